// Preloaded into a process to shift its clock by CLOCK_SHIFT_MS. PostgreSQL's and ours stay right.
const shift = Number(process.env.CLOCK_SHIFT_MS);
const TrueDate = Date;

class ShiftedDate extends TrueDate {
  /** @param {[] | [number]} values */
  constructor(...values) {
    super(...(values.length === 0 ? /** @type {const} */ ([TrueDate.now() + shift]) : values));
  }

  /** @override */
  static now() {
    return TrueDate.now() + shift;
  }
}

globalThis.Date = /** @type {DateConstructor} */ (ShiftedDate);
