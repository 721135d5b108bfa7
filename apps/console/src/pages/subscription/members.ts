/** The names that a path of a filter can have. */
const DEEPEST = 5;
const MOST = 100;

/** The paths of the members of these data, as filters write them: `caller.country`. */
export function pathsOf(all: readonly object[]): string[] {
  const paths = new Set<string>();
  const add = (members: object, before: readonly string[]) => {
    for (const [name, value] of Object.entries(members) as [string, unknown][]) {
      const names = [...before, name.replaceAll('.', '\\.')];
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      if (isObject && names.length < DEEPEST) add(value, names);
      else paths.add(names.join('.'));
    }
  };
  for (const data of all) add(data, []);
  return [...paths].sort().slice(0, MOST);
}
