//! Whose turn it is. The tenant with the fewest claims comes first, so that one tenant's thousand do not delay
//! another's one; among equals, whoever has waited longest.

use std::collections::{BTreeMap, HashMap, VecDeque};

use model::TenantId;
use store::Due;

/// At most `want` of `due` (longest waiting first), such that no tenant has more than `per_tenant` at once.
pub fn pick<Id: Copy>(
    due: &[(Id, TenantId)],
    busy: &HashMap<TenantId, usize>,
    per_tenant: usize,
    want: usize,
) -> Vec<Id> {
    let mut waiting: HashMap<TenantId, VecDeque<(usize, Id)>> = HashMap::new();
    for (at, (id, tenant)) in due.iter().enumerate() {
        waiting.entry(*tenant).or_default().push_back((at, *id));
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

    fn due(tenants: &[i64]) -> Vec<(i64, TenantId)> {
        tenants.iter().enumerate().map(|(at, tenant)| (at as i64, TenantId(*tenant))).collect()
    }

    #[test]
    fn one_tenants_many_do_not_come_before_anothers_one() {
        let due = due(&[1, 1, 1, 1, 1, 1, 2]);
        assert_eq!(pick(&due, &HashMap::new(), 9, 3), [0, 6, 1]);
    }

    #[test]
    fn a_tenant_alone_gets_everything_in_order() {
        assert_eq!(pick(&due(&[1, 1, 1]), &HashMap::new(), 9, 9), [0, 1, 2]);
    }

    #[test]
    fn whoever_is_busy_already_waits_and_the_limit_holds() {
        let busy = HashMap::from([(TenantId(1), 2)]);
        assert_eq!(pick(&due(&[1, 1, 2, 2]), &busy, 3, 9), [2, 3, 0]);
        assert_eq!(pick(&due(&[1, 1]), &busy, 2, 9), [] as [i64; 0]);
    }
}
