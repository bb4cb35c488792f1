/** What the server says of the members of a request, by the fields of a form. */

import type { ErrorBody } from "./api";

export interface FieldProblems {
  /** The sentence at each field, by its path in the form. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether the form has a field for each problem. */
  readonly isAll: boolean;
}

/** Pydantic names members of the body as `body.name`, and says the kind of error before the message of a check. */
const MEMBER = /^body\.(?<path>[^:]+): (?:Value error, )?(?<text>.*)$/su;

/**
 * Return what an error says of fields: each of `details.problems`, or its message at the member that `details` has (docs/api.md).
 * `hasField` says whether a form has a field of this path.
 */
export function fieldProblems(
  message: string,
  { problems, ...details }: ErrorBody["error"]["details"],
  hasField: (path: string) => boolean,
): FieldProblems {
  if (!Array.isArray(problems)) {
    const field = Object.keys(details).find(hasField);
    return field === undefined ? { fields: {}, isAll: false } : { fields: { [field]: message }, isAll: true };
  }
  const placed = problems.map((problem) => {
    const { path = "", text = "" } = MEMBER.exec(problem)?.groups ?? {};
    return { field: fieldOf(path, hasField), text };
  });
  const found = placed.flatMap(({ field, text }) => (field === null ? [] : [[field, text] as const]));
  return { fields: Object.fromEntries(found), isAll: found.length > 0 && found.length === placed.length };
}

/**
 * Return the field of a member such as `settings.email.recipients.0`: the longest part of its path that a form has. The path of
 * one of several shapes has the name of the shape in it (`email`), which a form may not have.
 */
function fieldOf(path: string, hasField: (path: string) => boolean): string | null {
  const names = path.split(".");
  const parts = [names, ...names.map((_, at) => names.filter((_name, other) => other !== at))].flatMap(partsOf);
  return parts.sort((a, b) => b.length - a.length).find(hasField) ?? null;
}

function partsOf(names: readonly string[]): string[] {
  return names.flatMap((_, start) => names.slice(start).map((_name, end) => names.slice(start, start + end + 1).join(".")));
}
