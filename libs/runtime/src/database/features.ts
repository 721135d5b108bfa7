/** The features in use: see the migrations that add them. */
export const USED_FEATURES = 'SELECT name FROM features ORDER BY name';

/** @throws Error with the features in use, which only later versions know */
export function requireNoFeatures(used: readonly { name: string }[]): void {
  if (used.length === 0) return;
  const names = used.map(({ name }) => `"${name}"`).join(', ');
  throw new Error(
    `the database uses features that this version does not know, and would ignore: ${names}. Run the version that ` +
      'made use of them, or a later one',
  );
}
