/* kind.c - see kind.h. SPDX-License-Identifier: MIT
 *
 * Paths are taken apart at / and at \, because profiles are also read from files that came from elsewhere. */
#include "profile/kind.h"

#include <string.h>

/* ---- scripts ---- */

struct start {
	const char *text;
	enum ray_profile_kind kind;
};

static const struct start script_starts[] = {
	{ "node:", RAY_KIND_NODE },
	{ "internal/", RAY_KIND_NODE }, /* before node 16 */
	{ "wasm://", RAY_KIND_WASM },
};

static const char modules[] = "node_modules";

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

static size_t part_length(const char *part)
{
	return strcspn(part, "/\\");
}

/* "name" or "@scope/name" at the start of part; 0 if the path ends there: then it is a file beside packages. */
static size_t name_length(const char *part)
{
	size_t length = part_length(part);

	if (!length || !part[length])
		return 0;
	if (part[0] != '@')
		return length;
	part += length + 1;
	return part_length(part) && part[part_length(part)] ? length + 1 + part_length(part) : 0;
}

/* The innermost node_modules decides. What begins with a dot in it (.pnpm, .store, .bin) is a manager's own, and holds packages in a
 * node_modules further in; where that is missing (.prisma/client), the directory's name has to do. */
static const char *find_package(const char *file, size_t *length_ret)
{
	const char *found = NULL;
	size_t length;

	for (const char *at = file; (at = strstr(at, modules));) {
		bool whole = (at == file || is_separator(at[-1])) && is_separator(at[sizeof(modules) - 1]);

		at += sizeof(modules) - 1;
		length = whole ? name_length(at + 1) : 0;
		if (!length || (found && at[1] == '.'))
			continue;
		found = at + 1;
		*length_ret = length;
	}
	return found;
}

enum ray_profile_kind ray_kind_of_script(const char *file, const char **package_ret, size_t *length_ret)
{
	*package_ret = NULL;
	*length_ret = 0;
	for (size_t i = 0; i < RAY_COUNT(script_starts); i++)
		if (!strncmp(file, script_starts[i].text, strlen(script_starts[i].text)))
			return script_starts[i].kind;
	*package_ret = find_package(file, length_ret);
	return *package_ret ? RAY_KIND_PACKAGE : RAY_KIND_JS;
}

/* ---- native functions ---- */

/* What stands after "v8::internal::", an anonymous namespace left out. The first that fits decides. */
static const struct start v8_starts[] = {
	{ "Heap::CollectAll", RAY_KIND_GC },
	{ "Heap::CollectGarbage", RAY_KIND_GC },
	{ "Heap::PerformGarbageCollection", RAY_KIND_GC },
	{ "Heap::PreciseCollectAllGarbage", RAY_KIND_GC },
	{ "Heap::GarbageCollection", RAY_KIND_GC },
	{ "Heap::Scavenge", RAY_KIND_GC },
	{ "Heap::MarkCompact", RAY_KIND_GC },
	{ "Heap::MinorMark", RAY_KIND_GC },
	{ "Heap::Mark(", RAY_KIND_GC },
	{ "Heap::Evacuat", RAY_KIND_GC },
	{ "Heap::StartIncrementalMarking", RAY_KIND_GC },
	{ "Heap::FinalizeIncrementalMarking", RAY_KIND_GC },
	{ "Heap::ReduceNewSpaceSize", RAY_KIND_GC },
	{ "Heap::EnsureSweepingCompleted", RAY_KIND_GC },
	{ "Heap::CompleteSweeping", RAY_KIND_GC },
	{ "Heap::CompactWeak", RAY_KIND_GC },
	{ "Heap::ProcessAllWeakReferences", RAY_KIND_GC },
	{ "Heap::ProcessYoungWeakReferences", RAY_KIND_GC },
	{ "Heap::ProcessNativeContexts", RAY_KIND_GC },
	{ "Heap::ProcessAllocationSites", RAY_KIND_GC },
	{ "Heap::ProcessWeak", RAY_KIND_GC },
	{ "Heap::IterateRoots", RAY_KIND_GC },
	{ "Heap::IterateWeakRoots", RAY_KIND_GC },
	{ "Heap::IterateStackRoots", RAY_KIND_GC },
	{ "Heap::UpdateExternalString", RAY_KIND_GC },
	{ "Heap::UpdateYoungReferences", RAY_KIND_GC },
	{ "Scaveng", RAY_KIND_GC },
	{ "IterateAndScavenge", RAY_KIND_GC },
	{ "RootScaveng", RAY_KIND_GC },
	{ "MarkCompact", RAY_KIND_GC },
	{ "MinorMark", RAY_KIND_GC },
	{ "MinorGC", RAY_KIND_GC },
	{ "Marking", RAY_KIND_GC },
	{ "MainMarking", RAY_KIND_GC },
	{ "FullMarking", RAY_KIND_GC },
	{ "RootMarking", RAY_KIND_GC },
	{ "CustomRootBody", RAY_KIND_GC },
	{ "ConcurrentMarking", RAY_KIND_GC },
	{ "ConcurrentUnifiedHeap", RAY_KIND_GC },
	{ "ConcurrentMinor", RAY_KIND_GC },
	{ "IncrementalMarking", RAY_KIND_GC },
	{ "YoungGeneration", RAY_KIND_GC },
	{ "MutatorUnifiedHeap", RAY_KIND_GC },
	{ "MutatorMinorGC", RAY_KIND_GC },
	{ "UnifiedHeap", RAY_KIND_GC },
	{ "CppMarking", RAY_KIND_GC },
	{ "CppHeap::", RAY_KIND_GC },
	{ "Sweeper", RAY_KIND_GC },
	{ "ArrayBufferSweeper", RAY_KIND_GC },
	{ "Evacuat", RAY_KIND_GC },
	{ "FullEvacuat", RAY_KIND_GC },
	{ "YoungGenerationEvacuat", RAY_KIND_GC },
	{ "LiveObjectVisitor", RAY_KIND_GC },
	{ "PointersUpdating", RAY_KIND_GC },
	{ "RememberedSetUpdatingItem", RAY_KIND_GC },
	{ "EphemeronTableUpdatingItem", RAY_KIND_GC },
	{ "ToSpaceUpdatingItem", RAY_KIND_GC },
	{ "ParallelClearing", RAY_KIND_GC },
	{ "ClearStringTable", RAY_KIND_GC },
	{ "PromoteYoungGeneration", RAY_KIND_GC },
	{ "PretenuringHandler::ProcessPretenuringFeedback", RAY_KIND_GC },
	{ "ScavengeJob", RAY_KIND_GC },
	{ "GCTracer", RAY_KIND_GC },
	{ "MemoryMeasurement", RAY_KIND_GC },
	{ "MemoryAllocator::Unmapper", RAY_KIND_GC },
	{ "GlobalHandles::ProcessWeak", RAY_KIND_GC },
	{ "GlobalHandles::Iterate", RAY_KIND_GC },
	{ "GlobalHandles::PostGarbageCollection", RAY_KIND_GC },
	{ "GlobalHandles::InvokeFirstPass", RAY_KIND_GC },
	{ "WeakObjects::Update", RAY_KIND_GC },
	{ "WriteBarrier::Marking", RAY_KIND_GC },
	{ "SweepingOnMutator", RAY_KIND_GC },
	{ "CompleteArrayBufferSweeping", RAY_KIND_GC },

	{ "compiler::", RAY_KIND_COMPILER },
	{ "maglev::", RAY_KIND_COMPILER },
	{ "baseline::", RAY_KIND_COMPILER },
	{ "interpreter::", RAY_KIND_COMPILER },
	{ "Compiler::", RAY_KIND_COMPILER },
	{ "CompilationCache", RAY_KIND_NATIVE },
	{ "Compil", RAY_KIND_COMPILER },
	{ "FinalizeUnoptimized", RAY_KIND_COMPILER },
	{ "ExecuteSingleUnoptimized", RAY_KIND_COMPILER },
	{ "IterativelyExecuteAndFinalize", RAY_KIND_COMPILER },
	{ "OptimizingCompile", RAY_KIND_COMPILER },
	{ "OptimizedCompil", RAY_KIND_COMPILER },
	{ "UnoptimizedCompil", RAY_KIND_COMPILER },
	{ "TurbofanCompil", RAY_KIND_COMPILER },
	{ "LazyCompile", RAY_KIND_COMPILER },
	{ "BackgroundCompile", RAY_KIND_COMPILER },
	{ "BackgroundMerge", RAY_KIND_COMPILER },
	{ "Parser", RAY_KIND_COMPILER },
	{ "PreParser", RAY_KIND_COMPILER },
	{ "ParseInfo", RAY_KIND_COMPILER },
	{ "parsing::", RAY_KIND_COMPILER },
	{ "Scanner", RAY_KIND_COMPILER },
	{ "Utf16CharacterStream", RAY_KIND_COMPILER },
	{ "BufferedCharacterStream", RAY_KIND_COMPILER },
	{ "UnbufferedCharacterStream", RAY_KIND_COMPILER },
	{ "Utf8ExternalStreamingStream", RAY_KIND_COMPILER },
	{ "ExpressionScope", RAY_KIND_COMPILER },
	{ "ExpressionParsingScope", RAY_KIND_COMPILER },
	{ "Ast", RAY_KIND_COMPILER },
	{ "Scope::", RAY_KIND_COMPILER },
	{ "DeclarationScope", RAY_KIND_COMPILER },
	{ "ClassScope", RAY_KIND_COMPILER },
	{ "ModuleScope", RAY_KIND_COMPILER },
	{ "VariableMap", RAY_KIND_COMPILER },
	{ "Rewriter", RAY_KIND_COMPILER },
	{ "FuncNameInferrer", RAY_KIND_COMPILER },
	{ "RegExpCompiler", RAY_KIND_COMPILER },
	{ "RegExpParser", RAY_KIND_COMPILER },
	{ "RegExpImpl::Compile", RAY_KIND_COMPILER },
	{ "RegExpBytecodeGenerator", RAY_KIND_COMPILER },
	{ "RegExpMacroAssembler", RAY_KIND_COMPILER },
	{ "Assembler", RAY_KIND_COMPILER },
	{ "MacroAssembler", RAY_KIND_COMPILER },
	{ "SharedMacroAssembler", RAY_KIND_COMPILER },
	{ "TurboAssembler", RAY_KIND_COMPILER },
	{ "wasm::Liftoff", RAY_KIND_COMPILER },
	{ "wasm::ExecuteLiftoff", RAY_KIND_COMPILER },
	{ "wasm::Wasm", RAY_KIND_COMPILER },
	{ "wasm::ModuleDecoder", RAY_KIND_COMPILER },
	{ "wasm::Decoder", RAY_KIND_COMPILER },
	{ "wasm::Compil", RAY_KIND_COMPILER },
	{ "wasm::AsyncCompile", RAY_KIND_COMPILER },
	{ "wasm::BackgroundCompile", RAY_KIND_COMPILER },
	{ "wasm::ExecuteCompil", RAY_KIND_COMPILER },
	{ "wasm::ExecuteTurb", RAY_KIND_COMPILER },
	{ "wasm::Turboshaft", RAY_KIND_COMPILER },
	{ "wasm::NativeModule::AddC", RAY_KIND_COMPILER },
	{ "wasm::AsmJs", RAY_KIND_COMPILER },
};

static const char v8_space[] = "v8::internal::", cpp_space[] = "cppgc::", anonymous[] = "(anonymous namespace)::";

static const char *after(const char *text, const char *start)
{
	size_t length = strlen(start);

	return strncmp(text, start, length) ? NULL : text + length;
}

/* Where the function's own name begins, behind its type: after the last blank that stands in no template's arguments. */
static const char *own_name(const char *function)
{
	const char *name = function;
	size_t depth = 0;

	for (const char *at = function; *at; at++) {
		const char *past = after(at, anonymous);

		if (past) {
			at = past - 1;
			continue;
		}
		if (!strncmp(at, "operator", strlen("operator")) || (*at == '(' && !depth))
			break;
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && depth)
			depth--;
		else if (*at == ' ' && !depth)
			name = at + 1;
	}
	return name;
}

/* "wasm::(anonymous namespace)::LiftoffCompiler": does it begin with what is looked for, the anonymous ones left out? */
static bool begins(const char *name, const char *start)
{
	const char *past;

	for (; *start; name++, start++) {
		while ((past = after(name, anonymous)))
			name = past;
		if (*name != *start)
			return false;
	}
	return true;
}

enum ray_profile_kind ray_kind_of_native(const char *function)
{
	const char *name = own_name(function), *inner;

	inner = after(name, cpp_space);
	if (inner)
		return strstr(inner, "ObjectAllocator") ? RAY_KIND_NATIVE : RAY_KIND_GC;
	inner = after(name, v8_space);
	for (size_t i = 0; inner && i < RAY_COUNT(v8_starts); i++)
		if (begins(inner, v8_starts[i].text))
			return v8_starts[i].kind;
	/* Every type of object has a way to visit what it points to: WasmStruct::BodyDescriptor::IterateBody<...>. */
	return inner && strstr(inner, "::BodyDescriptor::") ? RAY_KIND_GC : RAY_KIND_NATIVE;
}
