/**
 * The rule types/errors: what the TypeScript compiler says of a file. The rules that ask for types have made its program, and most of the
 * types in it, so that this costs next to nothing; the compiler beside ESLint would make them again.
 */

import ts from "typescript";

/** Programs of which was told what concerns no single file. */
const told = new WeakSet();

/** What the compiler says of options, of global types and of generated files, which ESLint ignores. */
function diagnosticsOfNoFile(program) {
    const generated = program.getSourceFiles().filter(({ fileName }) => fileName.endsWith(".gen.ts"));
    return [
        ...program.getConfigFileParsingDiagnostics(),
        ...program.getOptionsDiagnostics(),
        ...program.getGlobalDiagnostics(),
        ...generated.flatMap((file) => diagnosticsOf(program, file)),
    ];
}

function diagnosticsOf(program, file) {
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
}

function locate(sourceCode, file, diagnostic) {
    if (diagnostic.file !== file || diagnostic.start === undefined) {
        return { line: 1, column: 0 };
    }
    const [start, end] = [diagnostic.start, diagnostic.start + (diagnostic.length ?? 0)];
    return { start: sourceCode.getLocFromIndex(start), end: sourceCode.getLocFromIndex(end) };
}

function textOf(file, diagnostic) {
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
    const elsewhere = diagnostic.file !== undefined && diagnostic.file !== file ? `${diagnostic.file.fileName}: ` : "";
    return `${elsewhere}TS${String(diagnostic.code)}: ${text}`;
}

const errors = {
    meta: {
        type: "problem",
        docs: { description: "report the errors of the TypeScript compiler" },
        schema: [],
        messages: { error: "{{ text }}" },
    },
    create(context) {
        const { sourceCode } = context;
        const { program, esTreeNodeToTSNodeMap } = sourceCode.parserServices;
        return {
            "Program:exit"(node) {
                const file = esTreeNodeToTSNodeMap.get(node);
                const found = diagnosticsOf(program, file);
                if (!told.has(program)) {
                    told.add(program);
                    found.push(...diagnosticsOfNoFile(program));
                }
                for (const diagnostic of found) {
                    context.report({
                        loc: locate(sourceCode, file, diagnostic),
                        messageId: "error",
                        data: { text: textOf(file, diagnostic) },
                    });
                }
            },
        };
    },
};

export default { rules: { errors } };
