import { RawJson } from '#libs/kernel';
import type { HrefBuilder } from './request.js';
import { named, object, type Optional, type Schema } from './openapi/schema.js';

type Present = object | string | number | boolean;

/** A member of a view that is not simply the row's property of that name. */
export interface Computed<Row> {
  schema: Schema | Optional;
  read: (row: Row, href: HrefBuilder) => unknown;
}

/** A member without a row's property: how to read it. Only an optional one may be null or undefined. */
export function computed<Row>(schema: Optional, read: Computed<Row>['read']): Computed<Row>;
export function computed<Row>(
  schema: Schema,
  read: (row: Row, href: HrefBuilder) => Present,
): Computed<Row>;
export function computed<Row>(schema: Schema | Optional, read: Computed<Row>['read']) {
  return { schema, read };
}

/** A property that may be null or undefined must be optional. */
type Member<Row, Name> =
  | Computed<Row>
  | (Name extends keyof Row ? Optional | (Row[Name] extends Present ? Schema : never) : never);

/** A resource as answers show it: its schema, and how rows become JSON. Made by {@link viewOf}. */
export class View<Row, Name extends string = string> {
  readonly schema: Schema;
  /** For other views of such rows. */
  readonly members: Record<Name, Computed<Row>>;
  private readonly readers: { name: string; start: string; read: Computed<Row>['read'] }[];

  constructor(
    private readonly title: string,
    members: Record<Name, Computed<Row> | Schema | Optional>,
  ) {
    const entries = Object.entries<Computed<Row> | Schema | Optional>(members).map(
      ([name, of]) => [name, 'read' in of ? of : propertyOf<Row>(name, of)] as const,
    );
    this.members = Object.fromEntries(entries) as Record<Name, Computed<Row>>;
    this.readers = entries.map(([name, { read }]) => ({
      name,
      start: `${JSON.stringify(name)}:`,
      read,
    }));
    this.schema = named(title, object(this.members));
  }

  /** The view without a member that only some answers have, so that an export has no empty column. */
  without(name: Name): View<Row> {
    const others = Object.entries<Computed<Row>>(this.members).filter(([one]) => one !== name);
    return new View<Row>(this.title, Object.fromEntries(others));
  }

  /** The row as an object. Members that are null or undefined are omitted. */
  show(row: Row, href: HrefBuilder): object {
    const shown: Record<string, unknown> = {};
    for (const { name, read } of this.readers) {
      const value = read(row, href) ?? undefined;
      if (value !== undefined) shown[name] = value;
    }
    return shown;
  }

  /** The row as JSON text. A member may be {@link RawJson}, which keeps it as it was sent. */
  text(row: Row, href: HrefBuilder): string {
    let text = '';
    for (const { start, read } of this.readers) {
      const value = read(row, href) ?? undefined;
      if (value === undefined) continue;
      text += `${text && ','}${start}${value instanceof RawJson ? value.text : JSON.stringify(value)}`;
    }
    return `{${text}}`;
  }
}

function propertyOf<Row>(name: string, schema: Schema | Optional): Computed<Row> {
  return { schema, read: (row) => row[name as keyof Row] };
}

/**
 * Declares how rows of a type are shown: `viewOf<Row>()('Name', { … })`. A schema alone stands for the row's
 * property of that name; {@link computed} says how any other member is read.
 */
export function viewOf<Row>() {
  return <Name extends string>(
    name: string,
    members: { [Each in Name]: Member<Row, Each> },
  ): View<Row, Name> => new View(name, members);
}
