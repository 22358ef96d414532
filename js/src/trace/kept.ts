/** Values that are computed once for an owner, such as a trace, and kept while they are in use. */

/** How many values are kept per owner; some are masks over whole tables. */
const MOST_KEPT = 12;

const known = new WeakMap<object, Map<string, unknown>>();

/** The value of `make` for an owner and a key. It is computed once and kept while it is in use. */
export function kept<T>(owner: object, key: string, make: () => T): T {
  let values = known.get(owner);
  if (!values) {
    values = new Map();
    known.set(owner, values);
  }
  const value = values.has(key) ? (values.get(key) as T) : make();
  // The last used value is moved to the end.
  values.delete(key);
  values.set(key, value);
  if (values.size > MOST_KEPT) {
    values.delete(values.keys().next().value!);
  }
  return value;
}
