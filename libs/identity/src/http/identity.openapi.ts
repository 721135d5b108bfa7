import { DeletedSchema, describeError, describeRoutes, schema } from '#libs/http';
import { CredentialLimitReachedError, OwnAccessError } from '../domain/identity-errors.js';
import { AuditController } from './audit.controller.js';
import { AuditRecordView } from './audit.view.js';
import { EnvironmentsController } from './environments.controller.js';
import { CreatedEnvironmentSchema, EnvironmentView } from './environments.dto.js';
import { SessionController } from './session.controller.js';
import { SessionView } from './session.dto.js';
import { UsersController } from './users.controller.js';
import {
  ChangedUserSchema,
  CreatedCredentialSchema,
  CreatedUserSchema,
  CredentialView,
  UserView,
  UserWithCredentialsView,
} from './users.dto.js';

const CREDENTIAL_LIMIT = describeError(
  new CredentialLimitReachedError(),
  'The user has 100 credentials, including expired ones: revoke some first.',
);
const OWN_ACCESS = describeError(
  new OwnAccessError('lock yourself'),
  'A platform user would lock itself or remove its own last credential.',
);

const usersRoutes = describeRoutes(UsersController, {
  tag: 'Users',
  about:
    'Users, which are accounts, and their credentials. Most operations need the role `platform`.',
  path: {
    user: { about: 'The id or the username of a user.', schema: schema.text('', '83346') },
    credential: { about: 'The id of a credential.', schema: schema.numericId('', '7') },
  },
  operations: {
    list: {
      summary: 'List users',
      about: 'All users in ascending order of id, or a page of them. Needs the role `platform`.',
      answer: schema.arrayOf(UserView.schema),
    },
    show: {
      summary: 'Show a user',
      about:
        'The caller with its credentials. With the role `platform`, any user with its credentials.',
      answer: UserWithCredentialsView.schema,
    },
    create: {
      summary: 'Create a user',
      about: 'Needs the role `platform`. A username that is taken is a fault of `username`.',
      examples: {
        withPassword: { username: 'partner.one', password: 'correct horse battery staple' },
        generatedPassword: { username: 'partner.two', role: 'account' },
      },
      answer: CreatedUserSchema,
      headers: ['Location'],
    },
    update: {
      summary: 'Lock or unlock a user',
      about:
        'Needs the role `platform`. A lock takes effect within a second, and ends all sessions of the user ' +
        'for good.',
      examples: { lock: { status: 'locked' }, unlock: { status: 'active' } },
      answer: ChangedUserSchema,
      errors: [OWN_ACCESS, 'precondition_failed'],
    },
    showCredential: {
      summary: 'Show a credential',
      about: 'One credential of the caller. With the role `platform`, of any user.',
      answer: CredentialView.schema,
    },
    addCredential: {
      summary: 'Add a credential',
      about: 'Needs the role `platform`. Older credentials keep working, so that they can overlap.',
      examples: {
        chosen: { password: 'another horse, another staple' },
        generated: {},
        expiring: { expiresAt: '2099-12-31T23:59:59.000Z' },
      },
      answer: CreatedCredentialSchema,
      headers: ['Location'],
      errors: [CREDENTIAL_LIMIT],
    },
    removeCredential: {
      summary: 'Revoke a credential',
      about: 'Needs the role `platform`. The credential stops working within a second.',
      answer: DeletedSchema,
      errors: [OWN_ACCESS, 'precondition_failed'],
    },
  },
});

const environmentsRoutes = describeRoutes(EnvironmentsController, {
  tag: 'Environments',
  about: 'The environments that applications run in.',
  path: { id: { about: 'The id of an environment.', schema: schema.numericId('', '2') } },
  operations: {
    list: {
      summary: 'List environments',
      about: 'All environments in ascending order of id, or a page of them.',
      answer: schema.arrayOf(EnvironmentView.schema),
    },
    show: {
      summary: 'Show an environment',
      about: 'Returns one environment.',
      answer: EnvironmentView.schema,
    },
    create: {
      summary: 'Create an environment',
      about: 'Needs the role `platform`. An id that is taken is a fault of `id`.',
      examples: {
        next: { name: 'Partner tests', type: 'special', billable: false },
        chosenId: { id: '70', name: 'Production of partners', type: 'production', billable: true },
      },
      answer: CreatedEnvironmentSchema,
      headers: ['Location'],
    },
  },
});

const auditRoutes = describeRoutes(AuditController, {
  tag: 'Audit',
  about: 'Who changed what, when, and from where.',
  operations: {
    list: {
      summary: 'List changes',
      about:
        "The changes of the caller's account, and its logins and logouts with sessions, newest first. With " +
        'the role `platform`, of all accounts. ' +
        'An entry names the changed fields, but never contains their values.',
      answer: schema.arrayOf(AuditRecordView.schema),
    },
  },
});

const sessionRoutes = describeRoutes(SessionController, {
  tag: 'Session',
  about:
    'The session of a browser, in a cookie instead of the `Authorization` header. It ends with its ' +
    'credential, when its user is locked, after 30 minutes without a request, and after 12 hours. Only requests of pages of this ' +
    "origin may use it, and errors to them do not make the browser ask for a password. Programs don't need it.",
  operations: {
    begin: {
      summary: 'Log in',
      about:
        'Takes Basic credentials or, without them, a username and a password in the body. Sets the cookie.',
      answer: SessionView.schema,
    },
    show: {
      summary: 'Show who is logged in',
      about: 'The user and, for a session in a cookie, its times.',
      answer: SessionView.schema,
    },
    end: {
      summary: 'Log out',
      about: 'Ends the session of the cookie, if there is one, and clears the cookie.',
      answer: DeletedSchema,
    },
  },
});

/** Users, environments, the audit and sessions in the API description. */
export const identityRoutes = [usersRoutes, environmentsRoutes, auditRoutes, sessionRoutes];
