// Preloaded into a process to shift its clock by CLOCK_SHIFT_MS. PostgreSQL and the suite keep the right time.
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
