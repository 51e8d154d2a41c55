//! The table that is printed: each measure on both sides, their ratio, and what it was meant to be.

use std::fmt;

#[derive(Default)]
pub struct Table(Vec<Row>);

struct Row {
    measure: String,
    bare: String,
    terrane: String,
    ratio: String,
    aim: String,
    met: &'static str,
}

impl Table {
    /// Requests per second of both; the aim is for their ratio.
    pub fn rates(&mut self, measure: String, bare: f64, terrane: f64, aim: Option<f64>) {
        let ratio = terrane / bare;
        eprintln!("{measure}: bare {bare:.0}/s, terrane {terrane:.0}/s, {ratio:.2}×");
        self.0.push(Row {
            measure,
            bare: format!("{bare:.0}/s"),
            terrane: format!("{terrane:.0}/s"),
            ratio: format!("{ratio:.2}×"),
            aim: aim.map_or("-".into(), |aim| format!("≥ {aim}×")),
            met: aim.map_or("", |aim| verdict(ratio >= aim)),
        });
    }

    /// Something of Terrane alone, which should stay below the aim.
    pub fn alone(&mut self, measure: String, found: f64, unit: &str, most: Option<f64>) {
        eprintln!("{measure}: {found:.1} {unit}");
        self.0.push(Row {
            measure,
            bare: "-".into(),
            terrane: format!("{found:.1} {unit}"),
            ratio: "-".into(),
            aim: most.map_or("-".into(), |most| format!("≤ {most:.0} {unit}")),
            met: most.map_or("", |most| verdict(found <= most)),
        });
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |cells: [&str; 6]| {
            let [measure, bare, terrane, ratio, aim, met] = cells;
            writeln!(f, "{measure:<52} {bare:>10} {terrane:>10} {ratio:>7} {aim:>9}  {met}")
        };
        line(["measure", "bare", "terrane", "ratio", "aim", ""])?;
        self.0.iter().try_for_each(|row| line([&row.measure, &row.bare, &row.terrane, &row.ratio, &row.aim, row.met]))
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
