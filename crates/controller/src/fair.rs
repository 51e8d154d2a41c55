//! Whose turn it is. The tenant with the fewest claims comes first, so that one tenant's thousand do not delay
//! another's one; among equals, whoever has waited longest.

use std::collections::{BTreeMap, HashMap, VecDeque};

use model::{ResourceId, TenantId};
use store::Due;

/// At most `want` of `due` (longest waiting first), such that no tenant has more than `per_tenant` at once.
pub fn pick(due: &[Due], busy: &HashMap<TenantId, usize>, per_tenant: usize, want: usize) -> Vec<ResourceId> {
    let mut waiting: HashMap<TenantId, VecDeque<(usize, ResourceId)>> = HashMap::new();
    for (at, due) in due.iter().enumerate() {
        waiting.entry(due.tenant).or_default().push_back((at, due.id));
    }
    // Ordered by load, then by who has waited longest; the position of the first in line is unique.
    let mut line = BTreeMap::new();
    for (tenant, queue) in &waiting {
        let load = busy.get(tenant).copied().unwrap_or(0);
        if let Some((at, _)) = queue.front()
            && load < per_tenant
        {
            line.insert((load, *at), *tenant);
        }
    }
    let mut picked = Vec::new();
    while picked.len() < want
        && let Some(((load, _), tenant)) = line.pop_first()
    {
        let Some(queue) = waiting.get_mut(&tenant) else { continue };
        picked.extend(queue.pop_front().map(|(_, id)| id));
        if let Some((at, _)) = queue.front()
            && load + 1 < per_tenant
        {
            line.insert((load + 1, *at), tenant);
        }
    }
    picked
}

/// Whether all of these are one tenant's: then others may be waiting behind them.
pub fn is_one_tenants(due: &[Due]) -> bool {
    due.windows(2).all(|pair| pair[0].tenant == pair[1].tenant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(tenants: &[i64]) -> Vec<Due> {
        let due = |(at, tenant): (usize, &i64)| Due { id: ResourceId(at as i64), tenant: TenantId(*tenant) };
        tenants.iter().enumerate().map(due).collect()
    }

    fn ids(picked: Vec<ResourceId>) -> Vec<i64> {
        picked.into_iter().map(|id| id.0).collect()
    }

    #[test]
    fn one_tenants_many_do_not_come_before_anothers_one() {
        let due = due(&[1, 1, 1, 1, 1, 1, 2]);
        assert_eq!(ids(pick(&due, &HashMap::new(), 9, 3)), [0, 6, 1]);
    }

    #[test]
    fn a_tenant_alone_gets_everything_in_order() {
        assert_eq!(ids(pick(&due(&[1, 1, 1]), &HashMap::new(), 9, 9)), [0, 1, 2]);
    }

    #[test]
    fn whoever_is_busy_already_waits_and_the_limit_holds() {
        let busy = HashMap::from([(TenantId(1), 2)]);
        assert_eq!(ids(pick(&due(&[1, 1, 2, 2]), &busy, 3, 9)), [2, 3, 0]);
        assert_eq!(ids(pick(&due(&[1, 1]), &busy, 2, 9)), [] as [i64; 0]);
    }
}
