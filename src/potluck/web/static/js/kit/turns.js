// Work that must not overlap.

/**
 * Does the work one at a time: called while it is under way, it is done once more, with the result so far. Resolves when
 * nothing is left to do.
 * @template T
 * @param {(before?: T) => Promise<T>} work
 * @returns {() => Promise<T>}
 */
export function coalesced(work) {
  /** @type {Promise<T> | null} */
  let running = null;
  let again = false;
  async function run() {
    try {
      /** @type {T | undefined} */
      let result;
      do {
        again = false;
        result = await work(result);
      } while (again);
      return result;
    } finally {
      running = null;
    }
  }
  return () => {
    again = true;
    running ??= run();
    return running;
  };
}
