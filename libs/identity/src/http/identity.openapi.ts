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
  'The user already has 100 credentials, including expired ones. Revoke some first.',
);
const OWN_ACCESS = describeError(
  new OwnAccessError('lock yourself'),
  'Users with the `platform` role can neither lock themselves nor revoke their own last credential.',
);

const usersRoutes = describeRoutes(UsersController, {
  tag: 'Users',
  about:
    'Users and their credentials. Every user is an account. Most operations require the `platform` role.',
  path: {
    user: { about: "The user's id or username.", schema: schema.text('', '83346') },
    credential: { about: "The credential's id.", schema: schema.numericId('', '7') },
  },
  operations: {
    list: {
      summary: 'List users',
      about:
        'Returns all users in ascending order of id, or a page of them. Requires the `platform` role.',
      answer: schema.arrayOf(UserView.schema),
    },
    show: {
      summary: 'Show a user',
      about:
        'Returns a user with its credentials: the caller or, with the `platform` role, any user.',
      answer: UserWithCredentialsView.schema,
    },
    create: {
      summary: 'Create a user',
      about:
        'Creates a user. Requires the `platform` role. A username that is taken is a validation error of `username`.',
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
        'Locks or unlocks a user. Requires the `platform` role. A lock takes effect within a second and ends all ' +
        'sessions of the user, which an unlock does not restore.',
      examples: { lock: { status: 'locked' }, unlock: { status: 'active' } },
      answer: ChangedUserSchema,
      errors: [OWN_ACCESS, 'precondition_failed'],
    },
    showCredential: {
      summary: 'Show a credential',
      about: 'Returns a credential of the caller or, with the `platform` role, of any user.',
      answer: CredentialView.schema,
    },
    addCredential: {
      summary: 'Add a credential',
      about:
        'Adds a credential. Requires the `platform` role. Existing credentials keep working, so that you can change a password ' +
        'without an interruption.',
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
      about:
        'Revokes a credential, which stops working within a second. Requires the `platform` role.',
      answer: DeletedSchema,
      errors: [OWN_ACCESS, 'precondition_failed'],
    },
  },
});

const environmentsRoutes = describeRoutes(EnvironmentsController, {
  tag: 'Environments',
  about: 'The environments that applications run in.',
  path: { id: { about: "The environment's id.", schema: schema.numericId('', '2') } },
  operations: {
    list: {
      summary: 'List environments',
      about: 'Returns all environments in ascending order of id, or a page of them.',
      answer: schema.arrayOf(EnvironmentView.schema),
    },
    show: {
      summary: 'Show an environment',
      about: 'Returns an environment.',
      answer: EnvironmentView.schema,
    },
    create: {
      summary: 'Create an environment',
      about:
        'Creates an environment. Requires the `platform` role. An id that is taken is a validation error of `id`.',
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
        "Returns the changes of the caller's account and the logins and logouts of its sessions, newest first; with the " +
        '`platform` role, those of all accounts. An entry names the changed fields, but never contains their values.',
      answer: schema.arrayOf(AuditRecordView.schema),
    },
  },
});

const sessionRoutes = describeRoutes(SessionController, {
  tag: 'Session',
  about:
    'A session of a browser, in a cookie instead of the `Authorization` header. It ends when its credential is revoked or ' +
    'expires, when its user is locked, after 30 minutes without a request, and after 12 hours. Only requests from pages of ' +
    "this origin can use it, and errors do not make the browser ask for a password. Programs don't need a session.",
  operations: {
    begin: {
      summary: 'Log in',
      about:
        'Starts a session and sets its cookie. Takes Basic credentials or, without them, a username and a password in the ' +
        'body.',
      answer: SessionView.schema,
    },
    show: {
      summary: 'Show who is logged in',
      about: 'Returns the caller and, for a session, its times.',
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
