import type { Command } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import { type ApiConnection, apiOf, withApiOptions } from './api/api-connection.js';
import { queryOf } from './api/lists.js';
import { numericId } from './arguments.js';
import { addApiCommand, addCommand, type Options, withAccount, withApi } from './command.js';
import { confirm, type ConfirmOptions, mustAsk, withYes } from './confirmation.js';
import { print } from './output.js';
import { type BodyOptions, bodyOf, type FieldOptions, flagOf, withFields } from './request-body.js';
import { printObject } from './table.js';

type Verb = 'list' | 'show' | 'create' | 'update' | 'delete';

/** How the commands of a resource differ from those of another. */
interface ResourceCommands<Resource> {
  /** Its name for people, with its article: `a`, `subscription`. */
  name: readonly [article: string, noun: string];
  path: string;
  does: Record<'create' | 'delete', string>;
  /** The arguments of the examples. */
  examples: Partial<Record<Verb, string>>;
  fields: FieldOptions;
  include?: string;
  list: (api: ApiConnection, options: Options) => Promise<void>;
  /** Adds options of `create` that are no fields. */
  withCreateOptions?: (create: Command) => Command;
  /** Where it is created, by default `path`. */
  createPath?: (options: Options) => string;
  /** What is about to be deleted. */
  named: (resource: Resource) => string;
}

/** Adds `list|show|create|update|delete`. @returns `list`, which may get more options */
export function addResourceCommands<Resource>(
  group: Command,
  of: ResourceCommands<Resource>,
): Command {
  const { does, examples, fields } = of;
  const [article, noun] = of.name;
  const pathOf = (id: string): string => `${of.path}/${id}`;
  const withId = (command: Command): Command =>
    command.argument('<id>', `id of the ${noun}`, numericId);

  const list = withAccount(addApiCommand(group, 'list', `list all ${noun}s`, examples.list)).action(
    withApi(of.list),
  );

  withAccount(
    withId(addApiCommand(group, 'show', `show ${article} ${noun}`, examples.show)),
  ).action(
    withApi(async (api, options: Options, id: string) => {
      const query = queryOf({ include: of.include, accountId: options.account });
      printObject(options, (await api.ask('GET', pathOf(id) + query)).text);
    }),
  );

  const create = withFields(addCommand(group, 'create', does.create, examples.create), fields);
  withApiOptions(of.withCreateOptions?.(create) ?? create, 'account').action(
    async (options: Options & BodyOptions, command: Command) => {
      const body = await bodyOf(fields, options, command);
      const api = await apiOf(options, command);
      const { text } = await api.ask('POST', of.createPath?.(options) ?? of.path, body);
      const created = JSON.parse(text) as Schemas['Address'];
      print(options, text, `created ${noun} ${idOf(created)}: ${created.href}`);
    },
  );

  const update = withFields(
    addCommand(group, 'update', `change fields of ${article} ${noun}`, examples.update),
    fields,
  );
  for (const [name, { clear }] of Object.entries(fields)) {
    if (clear !== undefined) update.option(`--no-${flagOf(name)}`, clear);
  }
  withId(withApiOptions(update, 'account')).action(
    async (id: string, options: Options & BodyOptions, command: Command) => {
      const body = await bodyOf(fields, options, command);
      const api = await apiOf(options, command);
      const { text } = await api.ask('PUT', pathOf(id), body);
      print(options, text, `updated ${noun} ${id}`);
    },
  );

  const remove = withYes(addCommand(group, 'delete', does.delete, examples.delete));
  withId(withApiOptions(remove, 'account')).action(
    async (id: string, options: Options & ConfirmOptions, command: Command) => {
      const asks = mustAsk(options, command);
      const api = await apiOf(options, command);
      if (asks) {
        const named = of.named(await api.json<Resource>('GET', pathOf(id)));
        await confirm(`Delete ${noun} ${id} ${named}?`);
      }
      const { text } = await api.ask('DELETE', pathOf(id));
      print(options, text, `deleted ${noun} ${id}`);
    },
  );

  return list;
}
