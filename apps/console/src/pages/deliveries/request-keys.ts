import { useRef } from 'react';
import type { Selected } from './send-matching.queries.js';

/** One key for each selection, so that repeating a request after a lost answer starts nothing twice. */
export function useKeys(): (selected: Selected) => string {
  const keys = useRef(new Map<string, string>());
  return (selected) => {
    const request = JSON.stringify(selected);
    const key = keys.current.get(request) ?? newKey();
    keys.current.set(request, key);
    return key;
  };
}

/** `randomUUID` exists only on pages loaded over TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('-');
}
