//! What a plugin has said of itself, the latest last. Nothing is ever taken away, so that a reference to one stays good
//! while the next is added; a plugin changes its descriptor when it is upgraded, which is seldom.

use std::sync::OnceLock;

use model::plugin::Descriptor;

pub struct Descriptors {
    descriptor: Descriptor,
    next: OnceLock<Box<Descriptors>>,
}

impl Descriptors {
    pub fn beginning_with(descriptor: Descriptor) -> Descriptors {
        Descriptors { descriptor, next: OnceLock::new() }
    }

    pub fn latest(&self) -> &Descriptor {
        &self.last().descriptor
    }

    /// Adds it, unless it is what was said last.
    pub fn add(&self, descriptor: Descriptor) -> &Descriptor {
        let last = self.last();
        if last.descriptor != descriptor {
            // If somebody else was faster, theirs is as new as ours.
            let _ = last.next.set(Box::new(Descriptors::beginning_with(descriptor)));
        }
        self.latest()
    }

    fn last(&self) -> &Descriptors {
        let mut last = self;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }
}
