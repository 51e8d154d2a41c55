//! A page of a list, and where the next one begins.

#[derive(Debug, Clone)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Give it back to get the next page; none at the end.
    pub next: Option<i64>,
}

impl<T> Page<T> {
    /// From rows of which one more was asked for than the page holds.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> i64) -> Page<T> {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(cursor) } else { None };
        Page { items, next }
    }
}
