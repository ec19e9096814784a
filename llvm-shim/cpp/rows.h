// Rows of tables of pointers, which the model knows by addresses of its own.
#ifndef POLLYRS_ROWS_H
#define POLLYRS_ROWS_H

#include "llvm/IR/Attributes.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace pollyrs {

// Attributes of functions that return what is in memory, or don't look at it.
llvm::AttributeList reads(llvm::LLVMContext &Context, llvm::MemoryEffects Effects);

// A call that stands for a row while passes run: its first argument is the address in the model, its second
// one that in the table. (They would fold the `select` that scalar evolution knows the row by.)
llvm::FunctionCallee rowFunction(llvm::Module &M);

// Whether the value is known by its model already.
bool isMarked(const llvm::Value &V);

// The rows' length of the model in the place of what is loaded, which the host's code gets back.
void replaceLength(llvm::LoadInst &Load, llvm::Value &Length);

} // namespace pollyrs

#endif
