import { DomainError, ValidationError } from '#libs/kernel';

/** The request carries no credentials that are valid now; why is not told. */
export class UnauthorizedError extends DomainError {
  constructor() {
    super('unauthorized', 'unauthorized', 'Valid credentials are needed (HTTP Basic).');
  }
}

/** A platform user would shut itself out. */
export class OwnAccessError extends DomainError {
  constructor(what: string) {
    super('conflict', 'own_access', `You cannot ${what}.`);
  }
}

/** Another user has the username. */
export class UsernameTaken extends ValidationError {
  constructor() {
    super([{ field: 'username', code: 'conflict', message: 'username is taken.' }]);
  }
}

/** Another environment has the id. */
export class EnvironmentIdTaken extends ValidationError {
  constructor() {
    super([{ field: 'id', code: 'conflict', message: 'id is taken.' }]);
  }
}
