import { Anchor, type AnchorProps, Button, type ButtonProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";

type Native<P> = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof P> & { readonly ref?: Ref<HTMLAnchorElement> };

function AnchorBase(props: AnchorProps & Native<AnchorProps>) {
  return <Anchor {...props} />;
}

function ButtonBase(props: ButtonProps & Native<ButtonProps>) {
  return <Button component="a" {...props} />;
}

/** A link to a page of the app, typed by the router. */
export const PageLink = createLink(AnchorBase);
/** The same link, styled as a button. */
export const PageButton = createLink(ButtonBase);
