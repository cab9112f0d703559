--[[ keep-state: reads a workspace's state, and says whether Redis went back to an earlier one. Writes a state if there is none and one is given.
  Atomic because: processes that find none at the same time must agree on one id, and a loss is reported once.
  KEYS 1 state · 2 log
  ARGV 1 state to write if there is none ("" to write none) · 2 event that reports the loss ("" if no state was known)
       3 the newest entry of the log that the caller knows ("" for none)
  RETURN {"found" | "created" | "back", state, newest entry of the log or ""} · {"none", "", newest entry …}    Cost O(1). Never calls TIME. ]]
--- @include "went-back"
local state, word = redis.call('GET', KEYS[1]), 'found'
if state and wentBack(KEYS[2], ARGV[3]) then word = 'back' end
if not state then
  state, word = ARGV[1], 'none'
  if state ~= '' then
    word = 'created'
    redis.call('SET', KEYS[1], state)
    if ARGV[2] ~= '' then redis.call('XADD', KEYS[2], '*', 'event', ARGV[2]) end
  end
end
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return { word, state, newest and newest[1] or '' }
