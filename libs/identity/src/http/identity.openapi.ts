import { DeletedSchema, describeError, describeRoutes, schema } from '#libs/http';
import {
  CredentialLimitReachedError,
  OwnAccessError,
  UserClosedError,
  UserNotActiveError,
} from '../domain/identity-errors.js';
import { AuditController } from './audit.controller.js';
import { AuditRecordView } from './audit.view.js';
import { EnvironmentsController } from './environments.controller.js';
import { CreatedEnvironmentSchema, EnvironmentView } from './environments.dto.js';
import { LinksController } from './links.controller.js';
import { CreatedLinkSchema } from './links.dto.js';
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
  'The user already has ten credentials, including expired ones. Revoke some first.',
);
const OWN_ACCESS = describeError(
  new OwnAccessError('lock yourself'),
  'Nobody can lock themselves, close their own account, or revoke their own last valid credential with the scope `manage`.',
);

const NOT_ACTIVE = describeError(
  new UserNotActiveError(),
  'The user is locked or closed, so nobody can log in as it.',
);
const USER_CLOSED = describeError(
  new UserClosedError(),
  'The user is being closed, or is closed, which cannot be undone.',
);

const usersRoutes = describeRoutes(UsersController, {
  tag: 'Users',
  about:
    'Users and their credentials. Every user is an account. Users manage their own credentials; operators (roles `platform` ' +
    'and `operator`) manage those of all users, and only `platform` changes a user with that role.',
  path: {
    user: { about: "The user's id or username.", schema: schema.text('', '83346') },
    credential: { about: "The credential's id.", schema: schema.numericId('', '7') },
  },
  operations: {
    list: {
      summary: 'List users',
      about: 'Returns all users in ascending order of id, or a page of them.',
      answer: schema.arrayOf(UserView.schema),
    },
    show: {
      summary: 'Show a user',
      about: 'Returns a user with its credentials: the caller or, for operators, any user.',
      answer: UserWithCredentialsView.schema,
    },
    create: {
      summary: 'Create a user',
      about:
        'Creates a user. Only `platform` creates users with that role. A username that is taken is a validation error of `username`.',
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
        'Locks or unlocks a user. A lock takes effect within a second and ends all ' +
        'sessions of the user, which an unlock does not restore.',
      examples: { lock: { status: 'locked' }, unlock: { status: 'active' } },
      answer: ChangedUserSchema,
      errors: [OWN_ACCESS, USER_CLOSED, 'precondition_failed'],
    },
    close: {
      summary: 'Close an account',
      about:
        'Closes the account of a user for good. Requires the role `platform` or `operator`, and `platform` for a user with that ' +
        'role; you cannot close your own account. At once, its logins, sessions and event reports end, its applications and ' +
        'subscriptions are deleted, and its deliveries are cancelled. Then its events, deliveries, attempts and statistics are ' +
        'removed in the background, which `GET /v1/users/{user}` shows: the status is `closing`, with what remains, and then ' +
        '`closed`. The id is never used again; the username is free once the user is closed. Another request for the same user ' +
        'changes nothing.',
      answer: ChangedUserSchema,
      errors: [OWN_ACCESS, 'precondition_failed'],
    },
    listCredentials: {
      summary: 'List credentials',
      about:
        'Returns the credentials of the caller or, for operators, of any user. None has its password.',
      answer: schema.arrayOf(CredentialView.schema),
    },
    showCredential: {
      summary: 'Show a credential',
      about: 'Returns a credential of the caller or, for operators, of any user.',
      answer: CredentialView.schema,
    },
    addCredential: {
      summary: 'Add a credential',
      about:
        'Adds a credential of the caller or, for operators, of any user; at most ten. Existing credentials keep working, so ' +
        'that you can replace a password without an interruption. Only an operator of the role `platform` adds one to a ' +
        'user of that role.',
      examples: {
        chosen: { password: 'another horse, another staple' },
        generated: {},
        reading: { name: 'Dashboard', scope: 'read' },
        expiring: { expiresAt: '2099-12-31T23:59:59.000Z' },
      },
      answer: CreatedCredentialSchema,
      headers: ['Location'],
      errors: [CREDENTIAL_LIMIT, USER_CLOSED],
    },
    removeCredential: {
      summary: 'Revoke a credential',
      about:
        'Revokes a credential of the caller or, for operators, of any user. It stops working within a second, and so do the ' +
        'sessions that began with it.',
      answer: DeletedSchema,
      errors: [OWN_ACCESS, 'precondition_failed'],
    },
  },
});

const linksRoutes = describeRoutes(LinksController, {
  tag: 'Users',
  path: { user: { about: "The user's id or username.", schema: schema.text('', '83346') } },
  operations: {
    create: {
      summary: 'Create a link to the console',
      about:
        'Creates a link that opens the console as the caller or, for operators, as any user, without a password. It works ' +
        'once, and its session ends at `expiresAt`. Both also end when the credential that made the link is revoked, and when ' +
        'the user of either is locked; so `expiresAt` is not after the expiry of that credential. A session that began with a link ' +
        'cannot create links (403). The secret is in the fragment, which browsers do not send, so it reaches ' +
        'no log. Whoever has the link can use it: hand it only to its user. Only an operator of the role `platform` creates ' +
        'one for a user of that role.',
      examples: {
        reading: { path: '/deliveries?state=exhausted', expiresIn: 600 },
        managing: { scope: 'manage' },
      },
      answer: CreatedLinkSchema,
      errors: [NOT_ACTIVE],
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
      about: 'Creates an environment. An id that is taken is a validation error of `id`.',
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
        "Returns the changes of the caller's account and the logins and logouts of its sessions, newest first; for " +
        'operators, those of all accounts. An entry names the changed fields, but never contains their values.',
      answer: schema.arrayOf(AuditRecordView.schema),
    },
  },
});

const sessionRoutes = describeRoutes(SessionController, {
  tag: 'Session',
  about:
    'A session of a browser, in a cookie instead of the `Authorization` header. It ends when its credential, or the one that made its link, is revoked or ' +
    'expires or its link expires, when its user, or the one who made its link, is locked, after 30 minutes without a request, and after 12 hours. Only requests from pages of ' +
    "this origin can use it, and errors do not make the browser ask for a password. Programs don't need a session.",
  operations: {
    begin: {
      summary: 'Log in',
      about:
        'Starts a session and sets its cookie. Takes the token of a link to the console or a username and a password in the ' +
        'body, or Basic credentials. The session has the scope of its credential or link.',
      examples: { password: { username: 'demo', password: 'demo-secret' } },
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
export const identityRoutes = [
  usersRoutes,
  linksRoutes,
  environmentsRoutes,
  auditRoutes,
  sessionRoutes,
];
