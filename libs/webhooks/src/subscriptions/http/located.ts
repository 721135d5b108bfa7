import type { Response } from 'express';

/** Answers a POST with the address where what it made or changed can be seen. */
export function located(response: Response, href: string): object {
  response.setHeader('Location', href);
  return { href };
}
