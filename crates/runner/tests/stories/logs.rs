use model::job::Goal;

use crate::rig::{Rig, doing, until};

#[test]
fn a_log_of_two_hundred_thousand_lines_is_complete_and_read_in_pieces() {
    let rig = Rig::new();
    let module = rig.module("m", &doing("seq 1 200000"));
    let mut job = rig.start(&rig.assignment(Goal::Apply, &module));
    let (mut log, mut report) = (vec![], None);
    until("the whole log", || {
        // Asked before the log is read: nothing is written after a report.
        report = job.report().unwrap();
        loop {
            let piece = job.log(log.len() as u64, 1 << 20).unwrap();
            if piece.is_empty() {
                break;
            }
            log.extend(piece);
        }
        report.as_ref().map(|_| ())
    });
    assert_eq!(report.unwrap().log_bytes, log.len() as u64);
    let log = String::from_utf8(log).unwrap();
    // Terraform passes on half a line where the other half is slow to come; what counts is that nothing is missing or twice.
    let printed: String =
        log.lines().filter_map(|line| line.strip_prefix("terraform_data.a: (local-exec): ")).collect();
    let expected: String = (1..=200_000).map(|number| number.to_string()).collect();
    let printed = printed.strip_prefix("Executing: [\"/bin/sh\" \"-c\" \"seq 1 200000\"]").unwrap_or(&printed);
    assert!(printed == expected, "{} bytes of {}", printed.len(), expected.len());
}
