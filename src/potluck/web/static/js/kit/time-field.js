// A field for a day or a time in the person's own time zone, and a hidden field for the moment that is sent. Without a script
// only the first is sent, and read as UTC.

/**
 * Keeps the moment in step with the field. An untouched moment stays as it is, to the second.
 * @param {HTMLInputElement} field
 * @param {HTMLInputElement} moment
 * @param {(at: Date) => string} asField
 * @param {(value: string) => Date} asMoment
 */
export function followTime(field, moment, asField, asMoment) {
  const known = new Date(moment.value);
  if (isTime(known)) field.value = field.defaultValue = asField(known);
  moment.disabled = false;
  let shown = field.value;
  const follow = () => {
    if (field.value === shown) return;
    shown = field.value;
    const at = asMoment(field.value);
    moment.value = isTime(at) ? at.toISOString() : "";
  };
  field.addEventListener("input", follow);
  field.form?.addEventListener("submit", follow);
}

/** @param {Date} at */
export const isTime = (at) => !Number.isNaN(at.valueOf());
