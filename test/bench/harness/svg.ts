export type Span = readonly [from: number, to: number];

export const WIDTH = 720;
export const INK = '#1b2430';
const PAPER = '#ffffff';

/** Maps values to pixels. */
export function scale(
  of: Span,
  to: Span,
  by = (value: number) => value,
): (value: number) => number {
  const [from, end] = [by(of[0]), by(of[1])];
  return (value) => to[0] + ((by(value) - from) / (end - from)) * (to[1] - to[0]);
}

/** 1, 2, 5, 10, 20, 50 and so on, covering all values. */
export function logTicks([low, high]: Span): number[] {
  const from = Math.floor(Math.log10(low));
  const count = Math.ceil(Math.log10(high)) - from + 1;
  const all = Array.from({ length: count }, (_, at) =>
    [1, 2, 5].map((of) => of * 10 ** (from + at)),
  );
  const marks = all.flat();
  const first = marks.findLastIndex((mark) => mark <= low);
  return marks.slice(first, marks.findIndex((mark) => mark >= high && mark > low) + 1);
}

/** At most seven round numbers, from 0. */
export function linearTicks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [0.1, 0.2, 0.5, 1, 2].map((of) => of * power).find((of) => most / of <= 6)!;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

/** Moves labels to the right until they do not overlap. */
export function apart(places: readonly number[], room: number): number[] {
  let last = -Infinity;
  return places.map((place) => (last = Math.max(place, last + room)));
}

export function svg(height: number, title: string, parts: readonly string[]): string {
  const name = escaped(title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${String(WIDTH)} ${String(height)}" width="${String(WIDTH)}" height="${String(height)}" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif">`,
    `<title>${name}</title>`,
    `<rect width="100%" height="100%" rx="6" fill="${PAPER}"/>`,
    text(24, 32, title, { bold: true, size: 17 }),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

export function text(
  x: number,
  y: number,
  content: string,
  style: { color?: string; anchor?: string; bold?: boolean; size?: number } = {},
): string {
  const { color = INK, anchor = 'start', bold = false, size = 13 } = style;
  return `<text x="${px(x)}" y="${px(y)}" fill="${color}" font-size="${String(size)}" font-weight="${bold ? '600' : '400'}" text-anchor="${anchor}" paint-order="stroke" stroke="${PAPER}" stroke-width="3">${escaped(content)}</text>`;
}

export function segment([x1, y1]: Span, [x2, y2]: Span, color: string): string {
  return `<line x1="${px(x1)}" y1="${px(y1)}" x2="${px(x2)}" y2="${px(y2)}" stroke="${color}"/>`;
}

export function rect([x, y]: Span, [width, height]: Span, fill: string): string {
  return `<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" fill="${fill}" stroke="${PAPER}"/>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function short(value: number): string {
  return (value >= 100 ? Math.round(value) : Number(value.toPrecision(2))).toLocaleString('en');
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

export function polyline(points: readonly Span[], color: string, dash: string): string {
  const places = points.map(([x, y]) => `${px(x)},${px(y)}`).join(' ');
  return `<polyline fill="none" stroke="${color}" stroke-width="2.5" stroke-dasharray="${dash}" points="${places}"/>`;
}

export function circle([x, y]: Span, color: string): string {
  return `<circle cx="${px(x)}" cy="${px(y)}" r="4" fill="${color}" stroke="${PAPER}"/>`;
}
