import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleInstallation, type Customer } from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
});
afterAll(() => installation.stop());
beforeEach(async () => {
  customer = await installation.aCustomer();
});
afterEach(() => installation.closePages());

/** Events without data, except that the first one has a call's id. A page of the API reads 10,000. */
async function insertEvents(count: number, callId: string): Promise<void> {
  await installation.database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, unmatched, data)
     SELECT new_uuid(now(), n), $1, 'cdrCreated', 'call', now(), now(), true,
       CASE n WHEN 1 THEN $3 ELSE '{}' END
     FROM generate_series(1, $2::int) n`,
    [customer.id, count, `{"callId":"${callId}"}`],
  );
}

const filterByText = (page: Page) => page.getByLabel('Text in the data', { exact: true });

async function searchText(page: Page, text: string): Promise<void> {
  await page.getByRole('combobox', { name: /^Search/ }).fill(text);
  await page.getByRole('option', { name: 'Text in the data' }).click();
}

describe('a text in the data of events', () => {
  it('finds events, and the address keeps it', async () => {
    await installation.report(customer, '{"callId":"8c1f3a"}');
    await installation.report(customer, '{"callId":"8c1f3b"}');
    const page = await installation.openAs(customer, 'events');
    await page.getByText('2 events', { exact: true }).waitFor();
    await searchText(page, '8c1f3a');
    await page.getByText('1 event', { exact: true }).waitFor();
    expect(page.url()).toMatch(/events\?contains=8c1f3a$/);
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.getByRole('tree', { name: 'Data' }).getByText('8c1f3a').waitFor();
    await page.goBack();
    await page.getByText('1 event', { exact: true }).waitFor();
    expect(await filterByText(page).inputValue()).toBe('8c1f3a');
  });

  it('finds deliveries of such events', async () => {
    await installation.aSubscription(customer);
    await installation.report(customer, '{"callId":"8c1f3a"}');
    await installation.report(customer, '{"callId":"8c1f3b"}');
    const page = await installation.openAs(customer, 'deliveries');
    await page.getByText('2 deliveries', { exact: true }).waitFor();
    await searchText(page, '8c1f3b');
    await page.getByText('1 delivery', { exact: true }).waitFor();
    // The API does not send by a text.
    await page.getByText('Remove the filter “Text in the data” to send these.').waitFor();
    expect(await page.getByRole('button', { name: /^Send/ }).isDisabled()).toBe(true);
  });

  it('that is too short is a fault at its filter', async () => {
    const page = await installation.openAs(customer, 'events?contains=ab');
    const field = filterByText(page);
    await page.getByText('Text in the data must have').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const fault = page.locator(`#${await field.getAttribute('aria-describedby')}`);
    expect(await fault.innerText()).toMatch(/^Text in the data must have .*3/);
  });
});

describe('a search through many events', () => {
  it('goes on by itself until it finds something or has read all', async () => {
    await insertEvents(25_000, '8c1f3a');
    const page = await installation.openAs(customer, 'events?contains=8c1f3a');
    await page.getByText('1 event', { exact: true }).waitFor();
    await page.goto(`${installation.api.url}/console/events?contains=nowhere`);
    await page.getByText('Nothing matches').waitFor();
  });

  it('says how far it came, and can be stopped and continued', async () => {
    await insertEvents(25_000, '8c1f3a');
    let release = (): void => undefined;
    const isStopped = new Promise<void>((resolve) => (release = resolve));
    const page = await installation.openAs(customer, 'audit');
    await page.route(/events\?.*after=/, async (route) => {
      await isStopped;
      await route.continue();
    });
    await page.evaluate(`history.pushState(null, '', 'events?contains=8c1f3a')`);
    const progress = page.getByText(/^Searched back to \d\d:\d\d:\d\d$/);
    await progress.waitFor();
    await page.getByText('Searching …').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    release();
    const further = page.getByRole('button', { name: 'Search further' });
    await further.waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await further.click();
    await page.getByText('1 event', { exact: true }).waitFor();
    expect(await progress.count()).toBe(0);
  });
});

describe('the palette', () => {
  it('finds an event by its producer’s id, or by a text in its data', async () => {
    const event = { id: 'cdr-4711', event: 'cdrCreated', resource: 'call', accountId: customer.id };
    const body = { ...event, data: { callId: '8c1f3a' } };
    expect((await installation.platform.post('/v1/events', body)).status).toBe(202);
    const page = await installation.openAs(customer, 'audit');
    const options = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
    const find = async (text: string) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      await options.first().getByText('cdrCreated · call').waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'cdrCreated · call' }).waitFor();
    };
    await find('cdr-4711');
    await page.goBack();
    await find('8c1f3a');
  });

  it('offers to search all events and deliveries for a text', async () => {
    const page = await installation.openAs(customer, 'audit');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('no such thing');
    const options = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
    await expect
      .poll(() => options.locator('bdi').allInnerTexts())
      .toEqual(['Events with the text no such thing', 'Deliveries with the text no such thing']);
    await page.keyboard.press('Enter');
    await page.waitForURL(/events\?contains=no%20such%20thing$/);
  });
});
