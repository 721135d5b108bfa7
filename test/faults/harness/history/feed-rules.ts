import { groupBy } from '#libs/kernel';
import type { History, Violation } from './history.js';

/**
 * Every follower of the feed gets each acknowledged event exactly once, and all get them in the same order. Ignores events
 * that nobody was promised: a restore may have lost them after one follower has got them.
 */
export function feedViolations({ accepted, feeds }: History): Violation[] {
  const promised = new Set(accepted.map(({ eventId }) => eventId));
  const seen = feeds.map((ids) => ids.filter((id) => promised.has(id)));
  return [
    ...seen.flatMap((ids, follower) => [...countViolations(ids, promised, follower)]),
    ...orderViolations(seen.map((ids) => [...new Set(ids)])),
  ];
}

function* countViolations(
  ids: readonly string[],
  promised: ReadonlySet<string>,
  follower: number,
): Generator<Violation> {
  const counts = groupBy(ids, (id) => id);
  for (const id of promised) {
    const count = counts.get(id)?.length ?? 0;
    if (count === 1) continue;
    const rule = count === 0 ? 'missing in the feed' : 'repeated in the feed';
    yield { rule, text: `follower ${follower} got event ${id} ${count} times` };
  }
}

function orderViolations([first = [], ...others]: readonly string[][]): Violation[] {
  return others.flatMap((ids) => {
    const [own, known] = [new Set(ids), new Set(first)];
    const expected = first.filter((id) => own.has(id));
    const got = ids.filter((id) => known.has(id));
    const at = expected.findIndex((id, index) => id !== got[index]);
    if (at < 0) return [];
    const text = `event ${expected[at]!} has another place for another follower`;
    return [{ rule: 'other order in the feed', text }];
  });
}
