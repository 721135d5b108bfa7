/** Places in a log: ids of a Redis stream, which are `<when the log was created>-<number>`. */
const PLACE = /^(\d{1,15})-(\d{1,15})$/;

export function isPlace(text: string): boolean {
  return PLACE.test(text);
}

/** @returns a negative number if `one` is before `other`, 0 if they are the same */
export function comparePlaces(one: string, other: string): number {
  const [created, number] = partsOf(one);
  const [otherCreated, otherNumber] = partsOf(other);
  return created - otherCreated || number - otherNumber;
}

/** Whether there is nothing between two places. Otherwise entries were removed, or the log began anew. */
export function isNext(place: string, next: string): boolean {
  const [created, number] = partsOf(place);
  const [nextCreated, nextNumber] = partsOf(next);
  return created === nextCreated && number + 1 === nextNumber;
}

function partsOf(place: string): [created: number, number: number] {
  const [, created = '0', number = '0'] = PLACE.exec(place) ?? [];
  return [Number(created), Number(number)];
}
