// Preloaded into a process: its clock is CLOCK_SHIFT_MS off. PostgreSQL's and ours are not.
const shift = Number(process.env.CLOCK_SHIFT_MS);
const TrueDate = Date;

globalThis.Date = class extends TrueDate {
  constructor(...values) {
    super(...(values.length === 0 ? [TrueDate.now() + shift] : values));
  }

  static now() {
    return TrueDate.now() + shift;
  }
};
