/** Version of the service and of its API description (specification, section 9). */
export const VERSION = "0.2.1";
