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

    /// Seconds that both took for the same; the aim is for their ratio, and less is better.
    pub fn times(&mut self, measure: String, bare: f64, terrane: f64, most: Option<f64>) {
        self.less(measure, (bare, terrane), "s", most);
    }

    /// The same in milliseconds.
    pub fn delays(&mut self, measure: String, bare: f64, terrane: f64, most: Option<f64>) {
        self.less(measure, (bare, terrane), "ms", most);
    }

    fn less(&mut self, measure: String, (bare, terrane): (f64, f64), unit: &str, most: Option<f64>) {
        let ratio = terrane / bare;
        eprintln!("{measure}: bare {bare:.1} {unit}, terrane {terrane:.1} {unit}, {ratio:.2}×");
        self.0.push(Row {
            measure,
            bare: format!("{bare:.1} {unit}"),
            terrane: format!("{terrane:.1} {unit}"),
            ratio: format!("{ratio:.2}×"),
            aim: most.map_or("-".into(), |most| format!("≤ {most:.1}×")),
            met: most.map_or("", |most| verdict(ratio <= most)),
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

/// p50 and p99.
pub fn quantiles(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values.get((values.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    (at(0.5), at(0.99))
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
