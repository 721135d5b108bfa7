import { type Command, Option } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import { type ApiOptions, apiOf, withApiOptions } from '../api/api-connection.js';
import { pagesOf, queryOf } from '../api/lists.js';
import { example, numericId } from '../arguments.js';
import { confirm, type ConfirmOptions, mustAsk, withYes } from '../confirmation.js';
import { type OutputOptions, print } from '../output.js';
import { type BodyOptions, bodyOf, orNull, withFromFile } from '../request-body.js';
import { printObject, Table } from '../table.js';

type Application = Schemas['Application'];
type Options = ApiOptions & OutputOptions;

interface Fields extends Options, BodyOptions {
  name?: string;
  apiType?: string;
  environment?: string;
  voiceUrl?: string | false;
  messagingUrl?: string | false;
}

/** The fields of the API; `platform` is another name for `apiType`. */
type EveryField = Record<keyof Omit<Schemas['UpdateApplication'], 'platform'>, unknown>;

const API_TYPES = ['scripting', 'webapi'] satisfies Application['apiType'][];
const ID = 'id of the application';

/** `applications list|show|create|update|delete` */
export function addApplicationsCommands(program: Command): void {
  const applications = program
    .command('applications')
    .description('manage the applications of an account through a running API')
    .addHelpText('after', example('applications list'));
  withApiOptions(applications.command('list'), 'account')
    .description('list all applications')
    .option('--account <id>', 'of this account, for users of the role platform', numericId)
    .addHelpText('after', example('applications list'))
    .action(list);
  withApiOptions(applications.command('show'), 'account')
    .argument('<id>', ID, numericId)
    .description('show an application')
    .option('--account <id>', 'of this account, for users of the role platform', numericId)
    .addHelpText('after', example('applications show 12'))
    .action(show);
  withApiOptions(withFields(applications.command('create')), 'account')
    .description('create an application; it needs a name and one of the URLs')
    .addHelpText(
      'after',
      example('applications create --name Shop --voice-url https://shop.example.com/voice'),
    )
    .action(create);
  const update = withFields(applications.command('update'))
    .option('--no-voice-url', 'remove it')
    .option('--no-messaging-url', 'remove it');
  withApiOptions(update, 'account')
    .argument('<id>', ID, numericId)
    .description('change fields of an application')
    .addHelpText('after', example('applications update 12 --name Shop --environment 2'))
    .action(change);
  withApiOptions(withYes(applications.command('delete')), 'account')
    .argument('<id>', ID, numericId)
    .description('delete an application and its subscriptions, and cancel their deliveries')
    .addHelpText('after', example('applications delete 12'))
    .action(remove);
}

function withFields(command: Command): Command {
  command
    .option('--name <name>', 'its name')
    .option('--voice-url <url>', 'the URL that drives its voice calls')
    .option('--messaging-url <url>', 'the URL that drives its messages')
    .addOption(new Option('--api-type <type>', 'how it is driven').choices(API_TYPES))
    .option('--environment <id>', 'id or address of the environment that it runs in');
  return withFromFile(command);
}

function bodyOfFields(options: Fields, command: Command): Promise<string> {
  const { name, apiType, environment, voiceUrl, messagingUrl } = options;
  const fields = {
    name,
    apiType,
    environment,
    voiceUrl: orNull(voiceUrl),
    messagingUrl: orNull(messagingUrl),
  };
  return bodyOf(fields satisfies EveryField, options, command);
}

async function list(options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const table = new Table(options, [
    { title: 'id', isNumber: true },
    { title: 'name' },
    { title: 'type' },
    { title: 'environment', isNumber: true },
    { title: 'voice URL' },
    { title: 'messaging URL' },
  ]);
  for await (const page of pagesOf(api, 'v1/applications', { accountId: options.account })) {
    table.add(page.map((value) => ({ value, cells: cellsOf(JSON.parse(value) as Application) })));
  }
  table.end('There are no applications.');
}

function cellsOf(application: Application): (string | undefined)[] {
  const { id, name, apiType, environment, voiceUrl, messagingUrl } = application;
  return [id, name, apiType, environment && idOf({ href: environment }), voiceUrl, messagingUrl];
}

async function show(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const query = queryOf({ accountId: options.account });
  const { text } = await api.ask('GET', pathOf(id) + query);
  printObject(options, text);
}

async function create(options: Fields, command: Command): Promise<void> {
  const body = await bodyOfFields(options, command);
  const api = await apiOf(options, command);
  const { text } = await api.ask('POST', 'v1/applications', body);
  const created = JSON.parse(text) as Schemas['Address'];
  print(options, text, `created application ${idOf(created)}: ${created.href}`);
}

async function change(id: string, options: Fields, command: Command): Promise<void> {
  const body = await bodyOfFields(options, command);
  const api = await apiOf(options, command);
  const { text } = await api.ask('PUT', pathOf(id), body);
  print(options, text, `updated application ${id}`);
}

async function remove(
  id: string,
  options: Options & ConfirmOptions,
  command: Command,
): Promise<void> {
  const asks = mustAsk(options, command);
  const api = await apiOf(options, command);
  if (asks) {
    const { name } = await api.json<Application>('GET', pathOf(id));
    await confirm(`Delete application ${id} (${name}) and its subscriptions?`);
  }
  const { text } = await api.ask('DELETE', pathOf(id));
  print(options, text, `deleted application ${id}`);
}

function pathOf(id: string): string {
  return `v1/applications/${id}`;
}
