#pragma once

/// Annotations that tell clang about locks (-Wthread-safety); other compilers ignore them. `scripts/tidy --locks` checks them.
///
/// - GUARDED_BY(mutex) on a member: code reads and writes it with `mutex` held. PT_GUARDED_BY: the same for the object it points
///   to.
/// - REQUIRES(mutex...) on a function: its caller holds them. EXCLUDES: its caller does not, because the function takes them.
/// - ACQUIRE, RELEASE, TRY_ACQUIRE: the function takes the mutex or gives it back. For guards, and for functions that return one.
/// - ASSERT_CAPABILITY: after the call the mutex counts as held; the function must make sure that it is.
#if defined(__clang__)
#define PARTITA_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PARTITA_THREAD_ANNOTATION(x)
#endif

#define CAPABILITY(name) PARTITA_THREAD_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY PARTITA_THREAD_ANNOTATION(scoped_lockable)
#define GUARDED_BY(mutex) PARTITA_THREAD_ANNOTATION(guarded_by(mutex))
#define PT_GUARDED_BY(mutex) PARTITA_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define REQUIRES(...) PARTITA_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) PARTITA_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define EXCLUDES(...) PARTITA_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) PARTITA_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) PARTITA_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) PARTITA_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) PARTITA_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) PARTITA_THREAD_ANNOTATION(release_generic_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) PARTITA_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define ASSERT_CAPABILITY(mutex) PARTITA_THREAD_ANNOTATION(assert_capability(mutex))
#define RETURN_CAPABILITY(mutex) PARTITA_THREAD_ANNOTATION(lock_returned(mutex))
/// For code that clang cannot follow. A comment beside each use says why the code is right nevertheless.
#define NO_THREAD_SAFETY_ANALYSIS PARTITA_THREAD_ANNOTATION(no_thread_safety_analysis)
