/** What is worked out once for a trace or its groups, and kept while it is in use. */

/** Masks over whole tables are made once for each way of looking, and kept for this many. */
const MOST_KEPT = 12;

const known = new WeakMap<object, Map<string, unknown>>();

/** The value that `make` makes for an owner and a key, made once while it is in use. */
export function kept<T>(owner: object, key: string, make: () => T): T {
  let values = known.get(owner);
  if (!values) {
    values = new Map();
    known.set(owner, values);
  }
  const value = values.has(key) ? (values.get(key) as T) : make();
  // The last used is the last listed.
  values.delete(key);
  values.set(key, value);
  if (values.size > MOST_KEPT) {
    values.delete(values.keys().next().value!);
  }
  return value;
}
