//! What a hostile schema or document may cost, in one place, so that each bound can be weighed against the others.

/// A schema of a real resource type is a few KiB; the largest Kubernetes CRDs in the wild are near this.
pub(super) const SCHEMA_BYTES: usize = 256 * 1024;
/// JSON levels of a schema: each subschema costs two (`properties`, then its name), so this is 64 subschemas deep. It is
/// also the depth at which `serde_json` stops parsing.
pub(super) const SCHEMA_DEPTH: usize = 128;
/// Each subschema costs a few KiB compiled, so this keeps one type near 10 MiB at worst.
pub(super) const SUBSCHEMAS: usize = 5_000;
/// Each subschema is filed under its JSON pointer, so that long names above many subschemas multiply.
pub(super) const POINTER_BYTES: usize = 4_096;
/// Subschemas that one value may be held against at once, `$ref`, `allOf` and their like followed.
pub(super) const IN_PLACE: usize = 256;
/// The same, for the worst value at any depth of a document.
pub(super) const APPLICATIONS: u64 = 1_024;
/// Work allowed to the analysis that establishes `APPLICATIONS`: about a tenth of a second.
pub(super) const ANALYSIS_STEPS: u64 = 2_000_000;

/// Levels of objects and arrays in a spec. People do not write 64 levels, and every walk below recurses.
pub(super) const SPEC_DEPTH: usize = 64;
/// A spec with its defaults, as compact JSON. It bounds the rows that store it and the events that carry it.
pub(super) const SPEC_BYTES: usize = 1024 * 1024;
/// One default once its own nested defaults are in it.
pub(super) const DEFAULT_BYTES: usize = 64 * 1024;
/// Times that the defaults may be gone over before they must have settled; one that is filled in can only make another
/// branch match so many times before the schema is a puzzle rather than a description.
pub(super) const FILL_ROUNDS: usize = 4;

/// Work for one pass over a spec. A step is tens of nanoseconds, so a pass is bounded to some tenths of a second whatever the
/// schema; an ordinary 100 KiB spec takes some tens of thousands.
pub(super) const STEPS: u64 = 1_000_000;
/// Subschemas on the call stack at once. The deepest ordinary document needs three for each of its 64 levels; a thread's
/// 2 MiB stack has room for this many even unoptimised.
pub(super) const FRAMES: usize = 320;
/// Copies held while alternatives are tried for their defaults, in bytes of JSON.
pub(super) const TRIAL_BYTES: usize = 8 * 1024 * 1024;

/// Source length of a regular expression; an RFC 3986 pattern, the longest in common use, is below it.
pub(super) const PATTERN_LENGTH: usize = 2_048;
/// The largest automaton of a pattern. `^\w{1,255}$` fits.
pub(super) const PATTERN_BYTES: usize = 64 << 10;
/// Compiled sizes that a pattern is tried at, with what a byte of input is charged, in hundredths of a step. "Linear time" is
/// the length of the input times the size of the automaton; measured, an adversary gets up to 0.3 µs out of a step.
pub(super) const PATTERN_SIZES: [(usize, u64); 4] =
    [(2 << 10, 100), (8 << 10, 400), (32 << 10, 1_600), (PATTERN_BYTES, 3_200)];
/// All the automata of a schema. Building one takes a millisecond at worst, and a refused one counts for the largest.
pub(super) const ALL_PATTERNS_BYTES: usize = 4 << 20;
/// Lazily built automaton states of one pattern, in bytes; beyond it the engine falls back to the slow, constant-memory walk.
pub(super) const PATTERN_CACHE: usize = 256 << 10;

/// Violations reported before the rest is only counted.
pub(super) const VIOLATIONS: usize = 100;
/// Violations quoted for each alternative that did not match.
pub(super) const PER_ALTERNATIVE: usize = 3;
