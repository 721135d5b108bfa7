import { expect, it } from 'vitest';
import type { EnvironmentsRepository } from './environments.repository.js';
import { EnvironmentIdTaken } from './identity-errors.js';

/** What every implementation of {@link EnvironmentsRepository} must do, from a new installation on. */
export function environmentsRepositoryContract(environments: () => EnvironmentsRepository): void {
  const special = { name: 'Special', type: 'special', billable: true } as const;

  it('initially has development and production', async () => {
    expect(await environments().findById('1')).toMatchObject({ type: 'development' });
    expect(await environments().findById('2')).toMatchObject({ type: 'production' });
    expect(await environments().findById('3')).toBeUndefined();
  });

  it('skips chosen ids when it generates one', async () => {
    expect(await environments().insert({ ...special, id: '3' })).toEqual({ ...special, id: '3' });
    expect((await environments().insert(special)).id).toBe('4');
    expect(await environments().findById('4')).toEqual({ ...special, id: '4' });
  });

  it('refuses a taken id, and keeps its environment', async () => {
    const taken = environments().insert({ ...special, id: '1' });
    await expect(taken).rejects.toThrow(EnvironmentIdTaken);
    expect(await environments().findById('1')).toMatchObject({ type: 'development' });
  });

  it('lists environments by number, after a given one', async () => {
    for (const id of ['20', '10']) await environments().insert({ ...special, id });
    const ids = async (after?: string) =>
      (await environments().page({ limit: 5, ...(after !== undefined && { after }) })).map(
        ({ id }) => id,
      );
    expect(await ids()).toEqual(['1', '2', '3', '4', '10']);
    expect(await ids('4')).toEqual(['10', '20']);
  });
}
