// Work that must not overlap, and work that is tried again.

// Between two attempts, in milliseconds.
const FIRST_PAUSE = 1500;
const LONGEST_PAUSE = 15_000;
const GROWTH = 1.6;

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

/** Tries `work` again later, after pauses that grow until it succeeds. @param {() => void} work */
export function retries(work) {
  let timer = 0;
  let pause = FIRST_PAUSE;
  return {
    soon() {
      clearTimeout(timer);
      timer = setTimeout(work, pause);
      pause = Math.min(LONGEST_PAUSE, pause * GROWTH);
    },
    /** It is tried already. */
    cancel: () => clearTimeout(timer),
    /** It succeeded, or is to be tried as if for the first time. */
    reset() {
      pause = FIRST_PAUSE;
    },
  };
}
