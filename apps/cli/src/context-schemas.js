import { applicationsSchema } from '#libs/applications';
import { identitySchema } from '#libs/identity';
import { webhooksSchema } from '#libs/webhooks';
/** The database schemas of all contexts. */
export const contextSchemas = [identitySchema, applicationsSchema, webhooksSchema];
