import { expect, it } from 'vitest';
import { DeliveryAdmission } from './delivery-admission.js';

it('lets a lone subscription have its full bound', () => {
  const admission = new DeliveryAdmission(400, 50);
  let entered = 0;
  while (admission.tryEnter('1', '1')) entered += 1;
  expect(entered).toBe(50);
});

it('keeps slots for others however many subscriptions take all they can get', () => {
  const admission = new DeliveryAdmission(400, 50);
  for (let id = 0; id < 1_000; id += 1) {
    while (admission.tryEnter(`hanging-${id}`, `account-${id}`));
  }
  expect(admission.tryEnter('healthy', 'healthy')).toBe(true);
});

it('keeps slots for other accounts than one with very many subscriptions', () => {
  const admission = new DeliveryAdmission(400, 50);
  let entered = 0;
  for (let id = 0; id < 1_000; id += 1)
    if (admission.tryEnter(`webhook-${id}`, 'busy')) entered += 1;
  expect(entered).toBeGreaterThan(200);
  expect(entered).toBeLessThan(300);
  expect(admission.tryEnter('healthy', 'other')).toBe(true);
});

it('gives back what was left', () => {
  const admission = new DeliveryAdmission(8, 1);
  expect(admission.tryEnter('1', '1')).toBe(true);
  expect(admission.tryEnter('1', '1')).toBe(false);
  admission.leave('1', '1');
  expect(admission.tryEnter('1', '1')).toBe(true);
});
