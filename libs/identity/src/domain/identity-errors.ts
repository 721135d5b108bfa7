import { DomainError, ValidationError } from '#libs/kernel';

/** The request has no valid credentials. The message does not reveal what is wrong with them. */
export class UnauthorizedError extends DomainError {
  constructor(message = 'The credentials are not valid.') {
    super('unauthorized', 'unauthorized', message);
  }
}

/** The cookie's session has ended or expired, or its credential is no longer valid. */
export class SessionEndedError extends UnauthorizedError {
  constructor() {
    super('The session has ended.');
  }
}

/** The link to the console was used, has expired, or never existed. */
export class LinkEndedError extends UnauthorizedError {
  constructor() {
    super('The link has been used or has expired.');
  }
}

/** Nobody can log in as the user, so it gets no link. */
export class UserNotActiveError extends DomainError {
  constructor() {
    super('conflict', 'user_not_active', 'The user is not active.');
  }
}

/** A user would lock itself out. */
export class OwnAccessError extends DomainError {
  constructor(what: string) {
    super('conflict', 'own_access', `You cannot ${what}.`);
  }
}

/** The user is being closed, or is closed, for good. */
export class UserClosedError extends DomainError {
  constructor() {
    super('conflict', 'user_closed', 'The user is closed, which cannot be undone.');
  }
}

/** How many credentials a user may have, because each login and each answer reads all of them. Some have more from before. */
export const MAX_CREDENTIALS = 10;

export class CredentialLimitReachedError extends DomainError {
  constructor() {
    super(
      'conflict',
      'credential_limit_reached',
      `A user has at most ${MAX_CREDENTIALS} credentials.`,
    );
  }
}

/** Another user already has the username. */
export class UsernameTakenError extends ValidationError {
  constructor() {
    super([{ field: 'username', code: 'conflict', message: 'username is taken.' }]);
  }
}

/** Another environment already has the id. */
export class EnvironmentIdTakenError extends ValidationError {
  constructor() {
    super([{ field: 'id', code: 'conflict', message: 'id is taken.' }]);
  }
}
