import type { Response } from 'express';

/** Answers a POST with the address of the resource that it created or changed. */
export function located(response: Response, href: string): object {
  response.setHeader('Location', href);
  return { href };
}
