/** `localStorage` under our own prefix; if the browser forbids it, nothing outlives the page. */
const PREFIX = "evmint.explorer.";
const inMemory = new Map<string, string>();

export function readStored<T>(key: string): T | undefined {
  const text = inMemory.get(key) ?? read(PREFIX + key);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

export function writeStored(key: string, value: unknown): void {
  const text = JSON.stringify(value);
  inMemory.set(key, text);
  try {
    localStorage.setItem(PREFIX + key, text);
  } catch {
    // Full or forbidden: the value holds until the page is closed.
  }
}

export function removeStored(key: string): void {
  inMemory.delete(key);
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Forbidden: nothing was stored.
  }
}

function read(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}
