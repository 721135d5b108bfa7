import type { Command } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import type { ApiConnection } from '../api/api-connection.js';
import { printList } from '../api/lists.js';
import { addCommand, type Options } from '../command.js';
import type { FieldOption } from '../request-body.js';
import { addResourceCommands } from '../resource-commands.js';

type Application = Schemas['Application'];

const API_TYPES = ['scripting', 'webapi'] satisfies Application['apiType'][];

/** The fields of the API; `platform` is another name for `apiType`. */
type EveryField = Record<keyof Omit<Schemas['UpdateApplication'], 'platform'>, FieldOption>;

const FIELDS = {
  name: { value: '<name>', does: 'the name' },
  voiceUrl: { value: '<url>', does: 'the URL that handles voice calls', clear: 'remove it' },
  messagingUrl: { value: '<url>', does: 'the URL that handles messages', clear: 'remove it' },
  apiType: {
    value: '<type>',
    does: 'the kind of API that controls the application',
    choices: API_TYPES,
  },
  environment: { value: '<id>', does: 'id or URL of the environment' },
};

/** `applications list|show|create|update|delete` */
export function addApplicationsCommands(program: Command): void {
  const applications = addCommand(
    program,
    'applications',
    'manage the applications of an account through a running API',
    'list',
  );
  addResourceCommands<Application>(applications, {
    name: ['an', 'application'],
    path: 'v1/applications',
    does: {
      create: 'create an application; it needs a name and one of the URLs',
      delete: 'delete an application and its subscriptions, and cancel their deliveries',
    },
    examples: {
      show: '12',
      create: '--name Shop --voice-url https://shop.example.com/voice',
      update: '12 --name Shop --environment 2',
      delete: '12',
    },
    fields: FIELDS satisfies EveryField,
    list,
    named: ({ name }) => `(${name}) and its subscriptions`,
  });
}

function list(api: ApiConnection, options: Options): Promise<void> {
  return printList<Application>(api, options, {
    path: 'v1/applications',
    filters: { accountId: options.account },
    columns: [
      { title: 'id', isNumber: true },
      { title: 'name' },
      { title: 'type' },
      { title: 'environment', isNumber: true },
      { title: 'voice URL' },
      { title: 'messaging URL' },
    ],
    cellsOf: ({ id, name, apiType, environment, voiceUrl, messagingUrl }) => [
      ...[id, name, apiType, environment && idOf({ href: environment })],
      ...[voiceUrl, messagingUrl],
    ],
    whenEmpty: 'There are no applications.',
  });
}
