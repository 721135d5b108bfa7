import { applicationsSchema } from '#libs/applications';
import { identitySchema } from '#libs/identity';
import { webhooksSchema } from '#libs/webhooks';

/** What every context keeps in the database. */
export const contextSchemas = [identitySchema, applicationsSchema, webhooksSchema];
