--[[ pause-budget: after a 429, no process sends requests for the workspace for a while.
  Atomic because: of two pauses the longer one must apply, whichever is set last.
  KEYS 1 pause    ARGV 1 ms
  RETURN {"paused", ms in force}    Cost O(1). ]]
local left = redis.call('PTTL', KEYS[1])
local wanted = tonumber(ARGV[1])
if left >= wanted then return { 'paused', left } end
redis.call('SET', KEYS[1], '1', 'PX', wanted)
return { 'paused', wanted }
