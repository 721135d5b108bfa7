const percent = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });

/** `3.1%` */
export const shareText = (share: number): string => percent.format(share);
