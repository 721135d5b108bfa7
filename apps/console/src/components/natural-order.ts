/** Compares texts as people sort them: `shop 2` before `shop 10`. */
export const inNaturalOrder = new Intl.Collator('en', { numeric: true }).compare;
