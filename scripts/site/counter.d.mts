export const COUNTER_CODE: `0x${string}`;
export const SELECTORS: { readonly increase: `0x${string}`; readonly number: `0x${string}` };
