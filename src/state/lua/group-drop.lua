--[[ group-drop: a dead letter is dropped. If it holds the head of its ordering group and no run handles it, it leaves.
  Atomic because: between the check and the removal, a run could start.
  KEYS 1 groups · 2 pending · 3 holders · 4 positions
  ARGV 1 workspace · 2 group · 3 position · 4 job id
  RETURN "dropped" | "none", job id of the head of the group now or ""    Cost O(log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local POSITION_WIDTH = 35
local workspace, group, id = ARGV[1], ARGV[2], ARGV[4]
local position = redis.call('HGET', KEYS[4], id) or ARGV[3]

local function head()
  return redis.call('ZRANGEBYLEX', KEYS[1], '[' .. group .. SEP, '(' .. group .. AFTER_SEP, 'LIMIT', 0, 1)[1]
end

local member = group .. SEP .. position .. SEP .. id
local word = 'none'
if redis.call('ZSCORE', KEYS[1], member) and not (head() == member and redis.call('HEXISTS', KEYS[3], group) == 1) then
  redis.call('ZREM', KEYS[1], member)
  redis.call('ZREM', KEYS[2], workspace .. SEP .. position)
  redis.call('HDEL', KEYS[4], id)
  word = 'dropped'
end
local now = head()
return { word, word == 'dropped' and now and string.sub(now, #group + POSITION_WIDTH + 3) or '' }
