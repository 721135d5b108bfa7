import { expect, it } from 'vitest';
import { DeliveryAdmission } from './delivery-admission.js';

/** One whose subscriptions have all answered so often that they may have what they can get. */
class WellKnown extends DeliveryAdmission {
  override tryEnter(webhookId: string, accountId: string): boolean {
    for (let answers = 0; answers < 50; answers += 1) {
      this.enter(webhookId, accountId);
      this.leave(webhookId, accountId, false);
    }
    return super.tryEnter(webhookId, accountId);
  }
}

const enteredBy = (admission: DeliveryAdmission, webhookId = '1'): number => {
  let entered = 0;
  while (admission.tryEnter(webhookId, '1')) entered += 1;
  return entered;
};

it('lets a lone subscription have its full bound', () => {
  expect(enteredBy(new WellKnown(400, 50))).toBe(50);
});

it('begins with few calls, gives one more for each answer, and half for a call in vain', () => {
  const admission = new DeliveryAdmission(400, 50);
  const leave = (times: number, inVain: boolean) => {
    for (let n = 0; n < times; n += 1) admission.leave('1', '1', inVain);
  };
  expect(enteredBy(admission)).toBe(4);
  leave(4, false);
  expect(enteredBy(admission)).toBe(8);
  leave(8, false);
  expect(enteredBy(admission)).toBe(16);
  leave(2, true);
  leave(14, false);
  expect(enteredBy(admission)).toBe(18);
  leave(18, true);
  expect(enteredBy(admission)).toBe(1);
  expect(admission.earnings()).toEqual([['1', 1]]);
  expect(admission.earnings(['2'])).toEqual([['2', 4]]);
});

it('keeps slots for others beside sixty unknown that all begin at once', () => {
  const admission = new DeliveryAdmission(400, 50);
  for (let id = 0; id < 60; id += 1) while (admission.tryEnter(`hanging-${id}`, 'account'));
  expect(admission.tryEnter('healthy', 'account')).toBe(true);
});

/** Subscriptions that hang take in turn all that they can get. */
function fill(admission: DeliveryAdmission, hanging: number, accountOf: (id: number) => string) {
  for (let calls = 0; calls < 400; calls += 1) {
    for (let id = 0; id < hanging; id += 1) admission.tryEnter(`hanging-${id}`, accountOf(id));
  }
}

it.each([1, 10, 90, 390])(
  'keeps a slot for a healthy account beside %i with a subscription that hangs',
  (hanging) => {
    const admission = new WellKnown(400, 50);
    fill(admission, hanging, (id) => `account-${id}`);
    expect(admission.tryEnter('healthy', 'healthy')).toBe(true);
  },
);

it('keeps a slot for others beside twenty that take all they can get at once', () => {
  const admission = new WellKnown(400, 50);
  for (let id = 0; id < 20; id += 1) while (admission.tryEnter(`hanging-${id}`, `account-${id}`));
  expect(admission.tryEnter('healthy', 'healthy')).toBe(true);
});

it('keeps slots for other accounts than one with very many subscriptions', () => {
  const admission = new WellKnown(400, 50);
  let entered = 0;
  for (let id = 0; id < 1_000; id += 1)
    if (admission.tryEnter(`webhook-${id}`, 'busy')) entered += 1;
  expect(entered).toBeGreaterThan(200);
  expect(entered).toBeLessThan(300);
  expect(admission.tryEnter('healthy', 'other')).toBe(true);
});

it.each([1, 9, 50, 200])(
  'keeps a slot for a healthy subscription beside %i of its account that hang',
  (hanging) => {
    const admission = new WellKnown(400, 50);
    fill(admission, hanging, () => 'account');
    expect(admission.tryEnter('healthy', 'account')).toBe(true);
  },
);

it('keeps slots for others beside an account that has any number of tests sent to what hangs', () => {
  const admission = new DeliveryAdmission(400, 50);
  const testsOf = (accountId: string): number => {
    let entered = 0;
    while (entered < 400 && admission.tryEnterTest(`hanging-${entered % 10}`, accountId)) {
      entered += 1;
    }
    return entered;
  };
  expect(testsOf('busy')).toBe(45);
  expect(admission.tryEnter('healthy', 'busy')).toBe(true);
  for (let id = 0; id < 20; id += 1) expect(testsOf(`busy-${id}`)).toBeGreaterThan(0);
  expect(admission.tryEnter('healthy', 'healthy')).toBe(true);
  expect(admission.tryEnterTest('healthy', 'healthy')).toBe(true);
});

it('sends a test beside a subscription that has all it may, and gives its slot back', () => {
  const admission = new DeliveryAdmission(2, 1);
  expect(admission.tryEnter('1', '1')).toBe(true);
  expect(admission.tryEnter('1', '1')).toBe(false);
  expect(admission.tryEnterTest('1', '1')).toBe(true);
  expect(admission.tryEnterTest('1', '1')).toBe(false);
  admission.leaveTest('1', '1', false);
  expect(admission.tryEnterTest('1', '1')).toBe(true);
});

it('gives back what was left', () => {
  const admission = new DeliveryAdmission(8, 1);
  expect(admission.tryEnter('1', '1')).toBe(true);
  expect(admission.tryEnter('1', '1')).toBe(false);
  admission.leave('1', '1', false);
  expect(admission.tryEnter('1', '1')).toBe(true);
});
