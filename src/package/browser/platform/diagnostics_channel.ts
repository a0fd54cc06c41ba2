/** `node:diagnostics_channel` in a page, without subscribers. */
export function channel(_name: string) {
  return { hasSubscribers: false, publish(_message: unknown): void {} };
}
