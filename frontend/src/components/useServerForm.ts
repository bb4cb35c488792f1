import { type FormValidateInput, type LooseKeys, useForm, type UseFormReturnType } from "@mantine/form";
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { type SyntheticEvent, useId, useState } from "react";
import { ApiError } from "../api/client";
import { fieldProblems } from "../logic/form";

interface ServerFormOptions<Values, Saved> {
  /** The names of the values are the members of the request where they are the same, so that errors find their fields. */
  readonly initialValues: Values;
  readonly validate?: FormValidateInput<NoInfer<Values>>;
  /** The fields that are checked as soon as they are left. */
  readonly checksEarly?: LooseKeys<NoInfer<Values>>[];
  readonly send: (values: NoInfer<Values>, form: UseFormReturnType<NoInfer<Values>>) => Promise<Saved>;
  /** The queries that are asked again once the values are saved. */
  readonly renews?: readonly QueryKey[];
  readonly onSaved?: (saved: NoInfer<Saved>, form: UseFormReturnType<NoInfer<Values>>) => unknown;
}

/** What a dialog or a row needs of its form. */
export interface Submission {
  readonly isPending: boolean;
  /** What went wrong, unless it stands at a field. */
  readonly error: Error | null;
  readonly onSubmit: (event?: SyntheticEvent<HTMLFormElement>) => void;
}

export interface ServerForm<Values, Saved> {
  readonly form: UseFormReturnType<Values>;
  readonly submission: Submission;
  /** The server's last answer. */
  readonly saved: Saved | undefined;
  /** Forgets the last answer, or what went wrong. */
  readonly forget: () => void;
}

/** A form whose values go to the server; what the server says of a value stands at its field. */
export function useServerForm<Values extends object, Saved>({
  initialValues,
  validate,
  checksEarly = [],
  send,
  renews = [],
  onSaved,
}: ServerFormOptions<Values, Saved>): ServerForm<Values, Saved> {
  const client = useQueryClient();
  // Fields of two forms on one page may have one name. Mantine takes letters, digits and dashes.
  const name = useId().replaceAll("_", "-");
  const form = useForm<Values>({ name, initialValues, validateInputOnBlur: checksEarly, ...(validate && { validate }) });
  const [isAtFields, setAtFields] = useState(false);
  const hasField = (path: string): boolean => form.getInputNode(path) !== null;
  const sending = useMutation({
    mutationFn: (values: Values) => send(values, form),
    onSuccess: async (saved) => {
      await Promise.all(renews.map((queryKey) => client.invalidateQueries({ queryKey })));
      await onSaved?.(saved, form);
    },
    onError: (error) => {
      const { fields, isAll } = error instanceof ApiError ? fieldProblems(error.message, error.details, hasField) : NOWHERE;
      form.setErrors(fields);
      setAtFields(isAll);
    },
  });
  return {
    form,
    submission: {
      isPending: sending.isPending,
      error: isAtFields ? null : sending.error,
      onSubmit: form.onSubmit(
        (values) => {
          if (!sending.isPending) {
            sending.mutate(values);
          }
        },
        (errors) => {
          form.getInputNode(Object.keys(errors)[0] ?? "")?.focus();
        },
      ),
    },
    saved: sending.data,
    forget: sending.reset,
  };
}

const NOWHERE = { fields: {}, isAll: false };

/** The first value of a field that may be emptied. */
export function nullable<T>(value: T): T | null {
  return value;
}
