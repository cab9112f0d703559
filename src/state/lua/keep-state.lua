--[[ keep-state: reads the id of a workspace's state; writes one if there is none.
  Atomic because: processes that find none at the same time must agree on one id, and a loss is reported once.
  KEYS 1 state · 2 log    ARGV 1 state to write if there is none · 2 event that reports the loss ("" if no state was known)
  RETURN {"found" | "created", state}    Cost O(1). Never calls TIME. ]]
local state = redis.call('GET', KEYS[1])
if state then return { 'found', state } end
redis.call('SET', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then redis.call('XADD', KEYS[2], '*', 'event', ARGV[2]) end
return { 'created', ARGV[1] }
