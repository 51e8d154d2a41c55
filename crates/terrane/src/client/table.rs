//! Tables: as wide as their contents, and no narrower for the rows that come later in a watch.

use super::failure::Failure;
use super::print;

pub struct Table {
    header: Vec<&'static str>,
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
    /// The column that is painted by its status, if any.
    status: Option<usize>,
    /// The width of the terminal, where there is one: a message at the end of a line is cut to fit.
    room: Option<usize>,
}

/// No message is cut shorter than this.
const SHORTEST: usize = 20;

impl Table {
    pub fn new(header: &[&'static str]) -> Self {
        let widths = header.iter().map(|name| name.len()).collect();
        let status = header.iter().position(|name| *name == "STATUS");
        Table { header: header.to_vec(), widths, rows: vec![], status, room: print::room() }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        let cells: Vec<String> = cells.iter().map(|cell| print::clean(cell)).collect();
        for (width, cell) in self.widths.iter_mut().zip(&cells) {
            *width = (*width).max(cell.chars().count());
        }
        self.rows.push(cells);
    }

    /// Print the header and the rows so far; rows added later are printed by `flush`.
    pub fn print(&mut self) -> Result<(), Failure> {
        let header: Vec<_> = self.header.iter().map(ToString::to_string).collect();
        print::line(&self.format(&header, None))?;
        self.flush()
    }

    pub fn flush(&mut self) -> Result<(), Failure> {
        for row in std::mem::take(&mut self.rows) {
            print::line(&self.format(&row, self.status))?;
        }
        Ok(())
    }

    /// As text, for a place inside something else.
    pub fn text(&self) -> String {
        let header: Vec<_> = self.header.iter().map(ToString::to_string).collect();
        std::iter::once(&header).chain(&self.rows).map(|row| format!("{}\n", self.format(row, None))).collect()
    }

    fn fitted(&self, column: usize, cell: &str) -> String {
        let Some(room) = self.room.filter(|_| self.header.get(column) == Some(&"MESSAGE")) else { return cell.into() };
        let before: usize = self.widths.iter().take(column).map(|width| width + 3).sum();
        let most = room.saturating_sub(before).max(SHORTEST);
        if cell.chars().count() <= most {
            return cell.into();
        }
        cell.chars().take(most - 1).chain(['…']).collect()
    }

    fn format(&self, cells: &[String], painted: Option<usize>) -> String {
        let mut line = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let text = match painted {
                Some(status) if status == column => print::painted(cell, print::status_style(cell)),
                _ => self.fitted(column, cell),
            };
            line.push_str(&text);
            if column + 1 < cells.len() {
                let width = self.widths.get(column).copied().unwrap_or(0);
                line.push_str(&" ".repeat(width.saturating_sub(cell.chars().count()) + 3));
            }
        }
        line.trim_end().to_string()
    }
}
